FROM @IMAGE@
RUN pip install --no-cache-dir @AGENT_NEEDS@
RUN useradd --create-home learner
WORKDIR /app
COPY --chown=learner:learner app/ /app/
RUN chown learner:learner /app
