FROM @IMAGE@
COPY requirements.txt /tests/requirements.txt
COPY wheels /tests/wheels
RUN pip install --no-cache-dir --find-links /tests/wheels -r /tests/requirements.txt
COPY . /tests
