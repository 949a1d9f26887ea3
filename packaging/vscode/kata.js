// What the extension knows of Kata: how it is asked, and what its JSON says. Nothing here needs VS Code.
'use strict';

const { execFile } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const STATES = {
  pass: ['pass', 'passed'],
  fail: ['error', 'not yet right'],
  error: ['error', 'does not load'],
  timeout: ['error', 'takes too long'],
  in_progress: ['sync', 'begun'],
  not_started: ['circle-outline', 'not started'],
  missing: ['circle-outline', 'not there'],
};

/** The command: what the settings say, the folder's own environment, else what is on the path. */
function commandOf(setting, folder) {
  if (setting) return setting;
  const own = path.join(folder, '.venv', 'bin', 'kata');
  return fs.existsSync(own) ? own : 'kata';
}

/** Runs a command and gives what it printed; exit code 1 is a check that failed, and no error. */
function run(command, words, folder) {
  return new Promise((resolve, reject) => {
    execFile(command, words, { cwd: folder, maxBuffer: 64 << 20 }, (error, out, said) => {
      if (error && error.code === 'ENOENT') {
        reject(new Error(`${command} is not there: pip install tensor-kata, or name it in the setting kata.command.`));
      } else if (error && error.code !== 1) {
        reject(new Error(said.trim() || `kata ${words[0]} ended with ${error.code}`));
      } else {
        resolve(out);
      }
    });
  });
}

/** Gives the JSON of a command; an old Kata may print something else. */
async function ask(command, words, folder) {
  const printed = await run(command, [...words, '--json'], folder);
  let document;
  try {
    document = JSON.parse(printed);
  } catch {
    throw new Error(`kata ${words[0]} --json printed no JSON: pip install --upgrade tensor-kata`);
  }
  if (document.schema !== undefined && document.schema !== 1) {
    throw new Error(`this Kata speaks schema ${document.schema}, and the extension 1: update the extension.`);
  }
  return document;
}

/** The tree: units, and their katas with a state. */
function treeOf(list) {
  return list.units.map((unit) => ({
    label: `${unit.number} ${unit.title}`,
    katas: unit.katas.map((kata) => {
      const [icon, words] = STATES[kata.status] || STATES.not_started;
      return {
        slug: kata.kata,
        label: `${kata.number} ${kata.title}`,
        icon,
        description: `${words}, ${kata.score}/${kata.points}`,
      };
    }),
  }));
}

/** What a test's run shows: for each check of each report a result. */
function resultsOf(document) {
  return document.katas.flatMap((report) => {
    const told = report.checks.map((check) => ({
      kata: report.kata,
      id: `${report.kata}/${check.id || check.name}`,
      label: check.name,
      // Not written yet is not wrong.
      state: { pass: 'passed', skipped: 'skipped', todo: 'skipped' }[check.status] || 'failed',
      message: check.message || '',
      seconds: check.duration_s || 0,
    }));
    if (told.length === 0) {
      // It did not load: the reason is the report's own.
      const state = report.status === 'not_started' ? 'skipped' : 'failed';
      told.push({ kata: report.kata, id: `${report.kata}/load`, label: 'it loads', state, message: report.message || report.status, seconds: 0 });
    }
    return told;
  });
}

/** Where a kata's file is in a workspace, as `kata start` lays it; undefined before. */
function fileOf(folder, slug) {
  for (const unit of fs.readdirSync(folder, { withFileTypes: true })) {
    const place = path.join(folder, unit.name, slug);
    if (!unit.isDirectory() || !fs.existsSync(place)) continue;
    const stem = slug.replaceAll('-', '_');
    for (const name of [`${stem}.py`, `${stem}.ipynb`]) {
      if (fs.existsSync(path.join(place, name))) return path.join(place, name);
    }
    const other = fs.readdirSync(place).find((name) => name.endsWith('.py') && name !== 'blocks.py');
    if (other) return path.join(place, other);
  }
  return undefined;
}

module.exports = { ask, commandOf, fileOf, resultsOf, run, treeOf };
