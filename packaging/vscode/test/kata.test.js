'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const test = require('node:test');
const { ask, commandOf, fileOf, resultsOf, treeOf } = require('../kata');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kata-'));
test.after(() => fs.rmSync(folder, { recursive: true }));

function program(name, text) {
  const file = path.join(folder, name);
  fs.writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return file;
}

test('a tree has every kata with its state', () => {
  const [unit] = treeOf({ units: [{ number: '9.3', title: 'Masks', katas: [
    { kata: 'masks', number: '9.3.1', title: 'Attention masks', status: 'pass', score: 10, points: 10 },
    { kata: 'odd', number: '9.3.2', title: 'Odd', status: 'new in a later Kata', score: 0, points: 5 },
  ] }] });
  assert.strictEqual(unit.label, '9.3 Masks');
  assert.deepStrictEqual(unit.katas.map((kata) => [kata.slug, kata.icon]), [['masks', 'pass'], ['odd', 'circle-outline']]);
});

test('what is not written yet is not a failure', () => {
  const check = (id, status) => ({ id, name: id, status, message: status });
  const found = resultsOf({ katas: [{ kata: 'masks', status: 'fail', checks: [
    check('a', 'pass'), check('b', 'fail'), check('c', 'todo'), check('d', 'skipped'), check('e', 'timeout'),
  ] }] });
  assert.deepStrictEqual(found.map((one) => one.state), ['passed', 'failed', 'skipped', 'skipped', 'failed']);
});

test('a file that does not load is one failure with its reason', () => {
  const [one] = resultsOf({ katas: [{ kata: 'masks', status: 'error', message: 'line 3', checks: [] }] });
  assert.deepStrictEqual([one.state, one.message], ['failed', 'line 3']);
});

test('exit code 1 is a verdict, 2 is what was typed', async () => {
  assert.deepStrictEqual(await ask(program('one', `echo '{"schema": 1, "katas": []}'; exit 1`), ['check'], folder), { schema: 1, katas: [] });
  await assert.rejects(ask(program('two', 'echo "there is no kata x" >&2; exit 2'), ['check'], folder), /there is no kata x/);
});

test('no Kata, an old one, and a newer one say what to do', async () => {
  await assert.rejects(ask(path.join(folder, 'none'), ['list'], folder), /pip install tensor-kata/);
  await assert.rejects(ask(program('old', 'echo hello'), ['list'], folder), /--upgrade/);
  await assert.rejects(ask(program('new', `echo '{"schema": 2}'`), ['list'], folder), /update the extension/);
});

test("the folder's own environment comes first, after the settings", () => {
  assert.strictEqual(commandOf('', folder), 'kata');
  fs.mkdirSync(path.join(folder, '.venv', 'bin'), { recursive: true });
  fs.writeFileSync(path.join(folder, '.venv', 'bin', 'kata'), '');
  assert.strictEqual(commandOf('', folder), path.join(folder, '.venv', 'bin', 'kata'));
  assert.strictEqual(commandOf('/opt/kata', folder), '/opt/kata');
});

test('a module is found where kata start lays it', { skip: !process.env.KATA && 'KATA names no command' }, async () => {
  const { execFileSync } = require('node:child_process');
  execFileSync(process.env.KATA, ['start', 'masks'], { cwd: folder, stdio: 'ignore' });
  assert.match(fileOf(folder, 'masks'), /masks[/]masks\.py$/);
  const tree = treeOf(await ask(process.env.KATA, ['list'], folder));
  assert.ok(tree.flatMap((unit) => unit.katas).some((kata) => kata.slug === 'masks' && kata.icon === 'circle-outline'));
  const found = resultsOf(await ask(process.env.KATA, ['check', 'masks'], folder));
  assert.ok(found.length > 0 && found.every((one) => one.state === 'skipped'));
});
