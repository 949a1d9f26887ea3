"""nbgrader's settings: where the notebooks are, and how long a cell may take."""

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "side-by-side"
c.ExecutePreprocessor.timeout = 30
