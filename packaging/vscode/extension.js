// The extension: a tree of katas, their checks as tests, their pictures. What Kata says is read in kata.js.
'use strict';

const path = require('node:path');
const vscode = require('vscode');
const { ask, commandOf, fileOf, resultsOf, run, treeOf } = require('./kata');

function folderHere() {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (!folder) throw new Error('Open a folder first: katas are written into it.');
  return folder.uri.fsPath;
}

function command() {
  return commandOf(vscode.workspace.getConfiguration('kata').get('command'), folderHere());
}

class Katas {
  constructor() {
    this.changed = new vscode.EventEmitter();
    this.onDidChangeTreeData = this.changed.event;
  }

  async getChildren(item) {
    if (item) return item.katas || [];
    try {
      return treeOf(await ask(command(), ['list'], folderHere()));
    } catch (error) {
      vscode.window.showWarningMessage(error.message);
      return [];
    }
  }

  getTreeItem(item) {
    if (item.katas) return new vscode.TreeItem(item.label, vscode.TreeItemCollapsibleState.Collapsed);
    const made = new vscode.TreeItem(item.label);
    made.description = item.description;
    made.iconPath = new vscode.ThemeIcon(item.icon);
    made.contextValue = 'kata';
    made.command = { command: 'kata.open', title: 'Open', arguments: [item] };
    return made;
  }
}

function activate(context) {
  const katas = new Katas();
  const tests = vscode.tests.createTestController('kata', 'Kata');
  // A message instead of a dialog with a stack, whatever goes wrong.
  const register = (name, act) => context.subscriptions.push(vscode.commands.registerCommand(name, async (item) => {
    try {
      return await act(item && item.slug);
    } catch (error) {
      vscode.window.showErrorMessage(error.message);
    }
  }));
  const chosen = async (slug) => slug || vscode.window.showInputBox({ prompt: 'Which kata or unit?', value: 'masks' });

  async function check(slug, request, token) {
    const words = slug ? ['check', slug] : ['check'];
    const made = tests.createTestRun(request || new vscode.TestRunRequest());
    try {
      const document = await ask(command(), words, folderHere());
      for (const result of resultsOf(document)) {
        if (token && token.isCancellationRequested) break;
        const file = fileOf(folderHere(), result.kata);
        const uri = file && vscode.Uri.file(file);
        let kata = tests.items.get(result.kata);
        if (!kata) tests.items.add((kata = tests.createTestItem(result.kata, result.kata, uri)));
        let test = kata.children.get(result.id);
        if (!test) kata.children.add((test = tests.createTestItem(result.id, result.label, uri)));
        if (result.state === 'passed') made.passed(test, result.seconds * 1000);
        else if (result.state === 'skipped') made.skipped(test);
        else made.failed(test, new vscode.TestMessage(result.message), result.seconds * 1000);
      }
      return document;
    } finally {
      made.end();
      katas.changed.fire();
    }
  }

  tests.createRunProfile('Check', vscode.TestRunProfileKind.Run, async (request, token) => {
    const slugs = new Set((request.include || []).map((test) => (test.parent || test).id));
    for (const slug of slugs.size ? slugs : [undefined]) await check(slug, request, token);
  }, true);
  register('kata.refresh', () => katas.changed.fire());
  register('kata.check', (slug) => check(slug));
  register('kata.start', async (slug) => {
    const id = await chosen(slug);
    if (!id) return;
    await run(command(), ['start', id], folderHere());
    katas.changed.fire();
    const file = fileOf(folderHere(), id);
    if (file) await vscode.window.showTextDocument(vscode.Uri.file(file));
  });
  register('kata.open', async (slug) => {
    const file = fileOf(folderHere(), slug);
    return file ? vscode.window.showTextDocument(vscode.Uri.file(file)) : vscode.commands.executeCommand('kata.start', { slug });
  });
  register('kata.lesson', async (slug) => {
    const file = fileOf(folderHere(), slug);
    if (!file) throw new Error(`${slug} is not started here: Kata: Begin.`);
    return vscode.commands.executeCommand('markdown.showPreview', vscode.Uri.file(path.join(path.dirname(file), 'README.md')));
  });
  register('kata.demo', async (slug) => {
    const id = await chosen(slug);
    if (!id) return;
    const { files } = await ask(command(), ['demo', id], folderHere());
    return vscode.env.openExternal(vscode.Uri.file(path.resolve(folderHere(), files.at(-1))));
  });
  const watcher = vscode.workspace.createFileSystemWatcher('**/kata-progress.json');
  watcher.onDidChange(() => katas.changed.fire());
  watcher.onDidCreate(() => katas.changed.fire());
  context.subscriptions.push(tests, watcher, vscode.window.registerTreeDataProvider('kata.tree', katas));
  return { check, katas, tests };
}

module.exports = { activate };
