BEGIN TRANSACTION;
CREATE TABLE answers (
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	kata_id INTEGER NOT NULL, 
	content VARCHAR(64) NOT NULL, 
	answered TEXT NOT NULL, 
	submitted_at VARCHAR(32), 
	time_source TEXT, 
	origin TEXT, 
	at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_answers PRIMARY KEY (id), 
	CONSTRAINT fk_answers_run_id FOREIGN KEY(run_id) REFERENCES runs (id), 
	CONSTRAINT fk_answers_learner_id FOREIGN KEY(learner_id) REFERENCES learners (id), 
	CONSTRAINT fk_answers_kata_id FOREIGN KEY(kata_id) REFERENCES katas (id), 
	CONSTRAINT fk_answers_content FOREIGN KEY(content) REFERENCES contents (digest)
);
CREATE TABLE attempts (
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	kata_id INTEGER NOT NULL, 
	content VARCHAR(64), 
	digest TEXT NOT NULL, 
	terms TEXT NOT NULL, 
	submitted_at VARCHAR(32), 
	graded_at VARCHAR(32) NOT NULL, 
	status TEXT NOT NULL, 
	score DOUBLE NOT NULL, 
	max_score DOUBLE NOT NULL, 
	seed TEXT NOT NULL, 
	isolation TEXT NOT NULL, 
	device TEXT NOT NULL, 
	duration_s DOUBLE NOT NULL, 
	versions TEXT NOT NULL, 
	report TEXT NOT NULL, 
	CONSTRAINT pk_attempts PRIMARY KEY (id), 
	CONSTRAINT fk_attempts_run_id FOREIGN KEY(run_id) REFERENCES runs (id), 
	CONSTRAINT fk_attempts_learner_id FOREIGN KEY(learner_id) REFERENCES learners (id), 
	CONSTRAINT fk_attempts_kata_id FOREIGN KEY(kata_id) REFERENCES katas (id), 
	CONSTRAINT fk_attempts_content FOREIGN KEY(content) REFERENCES contents (digest)
);
INSERT INTO "attempts" VALUES(1,1,1,1,'3a13d196a10d0297f8da61106bef7e4fae8d63e1fa6fc323dda9906242b3675f','3a13d196a10d0297f8da61106bef7e4fae8d63e1fa6fc323dda9906242b3675f','terms','2026-10-05T12:00:00.000000+00:00','2026-11-29T01:24:28.900334+00:00','fail',3.0,10.0,'7','full','cpu',0.25,'{"torch":"2.13"}','{"schema":1,"learner":"ada","kata":"masks","number":"9.3.1","status":"fail","score":3.0,"max_score":10.0,"seed":7,"device":"cpu","isolation":"full","duration_s":0.25,"versions":{"torch":"2.13"},"message":null,"file":null,"output":null,"todo":[],"checks":[{"name":"the mask is causal","id":"test_the_mask_is_causal","aspect":"values","hidden":false,"status":"pass","points":2.0,"max_points":2.0,"message":null,"location":null,"misconception":null,"likely":null,"output":null},{"name":"future keys get no weight","id":"test_future_keys_get_no_weight","aspect":"values","hidden":true,"status":"fail","points":0.0,"max_points":2.0,"message":null,"location":null,"misconception":"shifted-late","likely":null,"output":null}]}');
INSERT INTO "attempts" VALUES(2,1,2,1,NULL,'','terms',NULL,'2026-11-29T01:24:28.912483+00:00','missing',0.0,10.0,'7','full','cpu',0.25,'{"torch":"2.13"}','{"schema":1,"learner":"bob","kata":"masks","number":"9.3.1","status":"missing","score":0.0,"max_score":10.0,"seed":7,"device":"cpu","isolation":"full","duration_s":0.25,"versions":{"torch":"2.13"},"message":null,"file":null,"output":null,"todo":[],"checks":[]}');
INSERT INTO "attempts" VALUES(3,1,3,2,'f417a3d9cd98dfdcdcb4b3e3a7f4151f9262ecc4b9be704e53ea558a3d01a38d','f417a3d9cd98dfdcdcb4b3e3a7f4151f9262ecc4b9be704e53ea558a3d01a38d','terms',NULL,'2026-11-29T01:24:28.913167+00:00','pass',10.0,10.0,'7','full','cpu',0.25,'{"torch":"2.13"}','{"schema":1,"learner":"zoë","kata":"layer-norm","number":"9.3.9","status":"pass","score":10.0,"max_score":10.0,"seed":7,"device":"cpu","isolation":"full","duration_s":0.25,"versions":{"torch":"2.13"},"message":null,"file":null,"output":null,"todo":[],"checks":[{"name":"x","id":"test_x","aspect":"values","hidden":false,"status":"pass","points":2.0,"max_points":2.0,"message":null,"location":null,"misconception":null,"likely":null,"output":null}]}');
INSERT INTO "attempts" VALUES(4,2,1,1,'06a0826702692be9dd2b9c813d2a6b43ffe795866a447565f5f1729c2d78be6a','06a0826702692be9dd2b9c813d2a6b43ffe795866a447565f5f1729c2d78be6a','terms','2026-10-06T12:00:00.000000+00:00','2026-11-29T01:24:28.933896+00:00','fail',6.0,10.0,'7','full','cpu',0.25,'{"torch":"2.13"}','{"schema":1,"learner":"ada","kata":"masks","number":"9.3.1","status":"fail","score":6.0,"max_score":10.0,"seed":7,"device":"cpu","isolation":"full","duration_s":0.25,"versions":{"torch":"2.13"},"message":null,"file":null,"output":null,"todo":[],"checks":[{"name":"the mask is causal","id":"test_the_mask_is_causal","aspect":"values","hidden":false,"status":"pass","points":2.0,"max_points":2.0,"message":null,"location":null,"misconception":null,"likely":null,"output":null}]}');
CREATE TABLE checks (
	id INTEGER NOT NULL, 
	kata_id INTEGER NOT NULL, 
	function TEXT NOT NULL, 
	name TEXT NOT NULL, 
	aspect TEXT NOT NULL, 
	hidden BOOLEAN NOT NULL, 
	CONSTRAINT pk_checks PRIMARY KEY (id), 
	CONSTRAINT uq_checks_kata_id_function_name_aspect_hidden UNIQUE (kata_id, function, name, aspect, hidden), 
	CONSTRAINT fk_checks_kata_id FOREIGN KEY(kata_id) REFERENCES katas (id)
);
INSERT INTO "checks" VALUES(1,1,'test_the_mask_is_causal','the mask is causal','values',0);
INSERT INTO "checks" VALUES(2,1,'test_future_keys_get_no_weight','future keys get no weight','values',1);
INSERT INTO "checks" VALUES(3,2,'test_x','x','values',0);
CREATE TABLE contents (
	digest VARCHAR(64) NOT NULL, 
	size INTEGER NOT NULL, 
	bundle BLOB NOT NULL, 
	CONSTRAINT pk_contents PRIMARY KEY (digest)
);
INSERT INTO "contents" VALUES('3a13d196a10d0297f8da61106bef7e4fae8d63e1fa6fc323dda9906242b3675f',60,X'789C9BB42237B138BB58AFA0B209CE3AC298B82E25B124513FB5A2A42851AFA4A2E48808C37F4C08001E441AEE');
INSERT INTO "contents" VALUES('f417a3d9cd98dfdcdcb4b3e3a7f4151f9262ecc4b9be704e53ea558a3d01a38d',60,X'789C9BB42237B138BB58AFA0B209CE3AC298BC2E25B124513FB5A2A42851AFA4A2E48808C37F4C08001E901AF0');
INSERT INTO "contents" VALUES('06a0826702692be9dd2b9c813d2a6b43ffe795866a447565f5f1729c2d78be6a',60,X'789C9BB42237B138BB58AFA0B209CE3AC298B42E25B124513FB5A2A42851AFA4A2E48808C37F4C08001E6A1AEF');
CREATE TABLE decisions (
	id INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	learner_id INTEGER, 
	kata_id INTEGER, 
	value TEXT NOT NULL, 
	comment TEXT NOT NULL, 
	author TEXT NOT NULL, 
	at VARCHAR(32) NOT NULL, 
	revoked_at VARCHAR(32), 
	revoked_by TEXT, 
	revoked_because TEXT, 
	CONSTRAINT pk_decisions PRIMARY KEY (id), 
	CONSTRAINT fk_decisions_learner_id FOREIGN KEY(learner_id) REFERENCES learners (id), 
	CONSTRAINT fk_decisions_kata_id FOREIGN KEY(kata_id) REFERENCES katas (id)
);
INSERT INTO "decisions" VALUES(1,'adjust',1,1,'1.5','clear names','tina','2026-11-29T01:24:28.954077+00:00',NULL,NULL,NULL);
INSERT INTO "decisions" VALUES(2,'override',1,1,'9','oral','prof','2026-11-29T01:24:28.960058+00:00','2026-11-29T01:24:28.963985+00:00','prof','no');
INSERT INTO "decisions" VALUES(3,'override',2,1,'5','on paper','prof','2026-11-29T01:24:28.970022+00:00',NULL,NULL,NULL);
INSERT INTO "decisions" VALUES(4,'extend',3,NULL,'{"of":"masks","days":2}','was ill','prof','2026-11-29T01:24:28.972845+00:00',NULL,NULL,NULL);
INSERT INTO "decisions" VALUES(5,'alias',2,NULL,'"robert"','his handle','prof','2026-11-29T01:24:28.979920+00:00','2026-11-29T01:24:28.986083+00:00','prof','no');
CREATE TABLE kata_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_kata_version PRIMARY KEY (version_num)
);
INSERT INTO "kata_version" VALUES('0005');
CREATE TABLE katas (
	id INTEGER NOT NULL, 
	slug TEXT NOT NULL, 
	number TEXT NOT NULL, 
	CONSTRAINT pk_katas PRIMARY KEY (id), 
	CONSTRAINT uq_katas_slug UNIQUE (slug)
);
INSERT INTO "katas" VALUES(1,'masks','9.3.1');
INSERT INTO "katas" VALUES(2,'layer-norm','9.3.9');
CREATE TABLE learners (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	CONSTRAINT pk_learners PRIMARY KEY (id), 
	CONSTRAINT uq_learners_name UNIQUE (name)
);
INSERT INTO "learners" VALUES(1,'ada');
INSERT INTO "learners" VALUES(2,'bob');
INSERT INTO "learners" VALUES(3,'zoë');
CREATE TABLE meta (
	id INTEGER NOT NULL CONSTRAINT ck_meta_single CHECK (id = 1), 
	nonce BLOB NOT NULL, 
	created_at VARCHAR(32) NOT NULL, 
	created_by TEXT NOT NULL, 
	written_by TEXT NOT NULL, 
	CONSTRAINT pk_meta PRIMARY KEY (id)
);
INSERT INTO "meta" VALUES(1,X'D08FC456EF983EC627FB8B3DE4268CC730511965690B193E2082929E4AF5E794','2026-11-29T01:24:28.881995+00:00','0.1.0','0.1.0');
CREATE TABLE pushes (
	id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	target TEXT NOT NULL, 
	points DOUBLE NOT NULL, 
	"before" DOUBLE, 
	arrived BOOLEAN NOT NULL, 
	author TEXT NOT NULL, 
	at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_pushes PRIMARY KEY (id), 
	CONSTRAINT fk_pushes_learner_id FOREIGN KEY(learner_id) REFERENCES learners (id)
);
CREATE TABLE results (
	attempt_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	check_id INTEGER NOT NULL, 
	status TEXT NOT NULL, 
	points DOUBLE NOT NULL, 
	max_points DOUBLE NOT NULL, 
	misconception TEXT, 
	CONSTRAINT pk_results PRIMARY KEY (attempt_id, position), 
	CONSTRAINT fk_results_attempt_id FOREIGN KEY(attempt_id) REFERENCES attempts (id), 
	CONSTRAINT fk_results_check_id FOREIGN KEY(check_id) REFERENCES checks (id)
)
 WITHOUT ROWID

;
INSERT INTO "results" VALUES(1,0,1,'pass',2.0,2.0,NULL);
INSERT INTO "results" VALUES(1,1,2,'fail',0.0,2.0,'shifted-late');
INSERT INTO "results" VALUES(3,0,3,'pass',2.0,2.0,NULL);
INSERT INTO "results" VALUES(4,0,1,'pass',2.0,2.0,NULL);
CREATE TABLE runs (
	id INTEGER NOT NULL, 
	started_at VARCHAR(32) NOT NULL, 
	finished_at VARCHAR(32), 
	arguments TEXT NOT NULL, 
	version TEXT NOT NULL, 
	host TEXT NOT NULL, 
	process INTEGER NOT NULL, 
	CONSTRAINT pk_runs PRIMARY KEY (id)
);
INSERT INTO "runs" VALUES(1,'2026-11-29T01:24:28.890647+00:00','2026-11-29T01:24:28.919513+00:00','{"jobs":2,"only":["masks"],"json":null}','0.1.0','vm',12279);
INSERT INTO "runs" VALUES(2,'2026-11-29T01:24:28.927158+00:00',NULL,'{}','0.1.0','vm',12279);
CREATE TABLE submissions (
	id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	kata_id INTEGER NOT NULL, 
	digest TEXT NOT NULL, 
	attempt_id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	seen INTEGER NOT NULL, 
	submitted_at VARCHAR(32), 
	time_source TEXT, 
	origin TEXT, 
	notes TEXT NOT NULL, 
	CONSTRAINT pk_submissions PRIMARY KEY (id), 
	CONSTRAINT fk_submissions_learner_id FOREIGN KEY(learner_id) REFERENCES learners (id), 
	CONSTRAINT fk_submissions_kata_id FOREIGN KEY(kata_id) REFERENCES katas (id), 
	CONSTRAINT fk_submissions_attempt_id FOREIGN KEY(attempt_id) REFERENCES attempts (id), 
	CONSTRAINT fk_submissions_run_id FOREIGN KEY(run_id) REFERENCES runs (id)
);
INSERT INTO "submissions" VALUES(1,1,1,'3a13d196a10d0297f8da61106bef7e4fae8d63e1fa6fc323dda9906242b3675f',1,1,1,'2026-10-05T12:00:00.000000+00:00',NULL,'ada/a.py','[]');
INSERT INTO "submissions" VALUES(2,2,1,'',2,1,1,NULL,NULL,NULL,'[]');
INSERT INTO "submissions" VALUES(3,3,2,'f417a3d9cd98dfdcdcb4b3e3a7f4151f9262ecc4b9be704e53ea558a3d01a38d',3,2,2,'2026-10-05T12:00:00.000000+00:00',NULL,'zoë/a.py','[]');
INSERT INTO "submissions" VALUES(4,1,1,'06a0826702692be9dd2b9c813d2a6b43ffe795866a447565f5f1729c2d78be6a',4,2,2,'2026-10-06T12:00:00.000000+00:00',NULL,'ada/a.py','[]');
CREATE INDEX ix_attempts_content ON attempts (content);
CREATE INDEX ix_attempts_learner_id_kata_id ON attempts (learner_id, kata_id);
CREATE INDEX ix_attempts_run_id ON attempts (run_id);
CREATE INDEX ix_decisions_learner_id_kata_id ON decisions (learner_id, kata_id);
CREATE INDEX ix_decisions_kind ON decisions (kind);
CREATE INDEX ix_answers_run_id ON answers (run_id);
CREATE INDEX ix_answers_learner_id_kata_id ON answers (learner_id, kata_id);
CREATE INDEX ix_pushes_target ON pushes (target);
CREATE INDEX ix_submissions_run_id ON submissions (run_id);
CREATE INDEX ix_submissions_learner_id_kata_id ON submissions (learner_id, kata_id);
CREATE INDEX ix_results_check_id ON results (check_id);
COMMIT;
