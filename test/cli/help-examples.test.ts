import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type StartedApp, startApp } from '../support/http/start-app.ts'
import { runLines, shellFolder } from './example-shell.ts'
import { commandEnvironment, runCommand } from './run-command.ts'

/** Examples that run until stopped, or need a PostgreSQL server. */
const NOT_RUN = /^plantstore serve |postgres:\/\//
/** A line whose words a shell would pass on as they are. */
const PLAIN = /^plantstore(?: (?:[\w.,/:-]+|"[^"$`\\]*"))+$/

/** Runs an example: in this process where no shell is needed, which is several times as fast. Returns its output. */
async function runExample(t: TestContext, folder: string, line: string, app: StartedApp): Promise<string> {
  if (!PLAIN.test(line)) return runLines(folder, line, app)
  const words = [...line.matchAll(/ (?:"([^"]*)"|(\S+))/g)].map(([, quoted, bare = '']) => quoted ?? bare)
  const environment = commandEnvironment(app.url, { HOME: folder })
  const { code, stdout, stderr } = await runCommand(t, words, { folder, environment })
  assert.equal(code, 0, `${line}: ${stderr}`)
  return stdout
}

test('every command has an example in its help, and the examples work', async (t) => {
  const folder = shellFolder(t)
  mkdirSync(join(folder, 'data'))
  const app = await startApp(t, { PLANTSTORE_DATABASE: join(folder, 'data', 'plantstore.db') })
  const other = await startApp(t)
  mkdirSync(join(folder, '.config/fish/completions'), { recursive: true })
  writeFileSync(join(folder, 'plants.csv'), 'id,name,tag\n1,Rosa canina,shrub\n')
  writeFileSync(join(folder, 'names.csv'), 'Rosa rugosa,shrub\n')

  const root = await runCommand(t, ['--help'])
  const commands = [...root.stdout.matchAll(/^ {2}([a-z]+)[ [].* {2}/gm)].map(([, name = '']) => [name])
  const helps = [
    ...commands.filter(([name]) => name !== 'help'),
    ['token', 'create'],
    ['token', 'list'],
    ['token', 'rotate'],
    ['token', 'revoke'],
  ]
  assert.ok(helps.length >= 18, helps.join())
  let examples = 0
  for (const words of helps) {
    const { code, stdout, stderr } = await runCommand(t, [...words, '--help'])
    assert.deepEqual([code, stderr], [0, ''], words.join(' '))
    assert.match(stdout, /^Usage: plantstore /)
    const [, text = ''] = stdout.split(/^Examples?:\n/m)
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => line.trim())
    assert.ok(
      lines.some((line) => line.includes(`plantstore ${words.join(' ')}`)),
      words.join(' '),
    )
    for (const line of lines.filter((one) => !NOT_RUN.test(one))) {
      // Each example starts with these plants.
      await app.send('PUT', '/plants/42', '{"name":"Quercus robur","tag":"tree"}')
      await app.send('PUT', '/plants/43', '{"name":"Quercus petraea"}')
      if (words[0] === 'create') await app.fetch('/plants/42', { method: 'DELETE' })
      if (words[0] === 'import')
        for (const id of [1, 1000]) await app.fetch(`/plants/${id}`, { method: 'DELETE' })
      const tokens = /token (?:revoke|rotate)/.test(line)
        ? await runExample(t, folder, 'plantstore token list', app)
        : ''
      const here = line
        .replace('http://other', other.url)
        .replace(/(?<=(?:revoke|rotate) )\w+/, tokens.split('\t')[0] ?? '')
      await runExample(t, folder, here, app)
      examples++
    }
  }
  assert.ok(examples >= 24, String(examples))
})
