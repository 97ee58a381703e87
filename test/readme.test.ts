import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { flagOf, type SettingName, variableOf } from '../src/config/read-config.ts'
import { SETTINGS } from '../src/config/settings.ts'
import { startApp, TOKEN } from './support/http/start-app.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const run = promisify(execFile)

test('the five minutes with curl work as they are written', async (context) => {
  const app = await startApp(context)
  const blocks = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].map((match) => match[1] ?? '')
  assert.ok(blocks.length >= 8, 'the walk is there')
  const outputs: string[] = []
  for (const block of blocks) {
    const script = block.replaceAll('http://127.0.0.1:8080', app.url)
    const { stdout } = await run('sh', ['-ec', script], { env: { ...process.env, TOKEN } })
    outputs.push(stdout)
  }
  const [added, read, found, changed, refused, retried, deleted, token] = outputs
  assert.equal(added, '{"name":"Açaí palm","tag":"palm"}')
  assert.match(read ?? '', /etag: "[^"]+".*"id":9007199254740993,/is)
  assert.match(found ?? '', /Açaí palm.*\{"tag":"palm","count":1\}/s)
  assert.doesNotMatch(changed ?? '', /"tag"/)
  assert.match(refused ?? '', /"error":41201/)
  assert.equal(retried, '{"name":"Medicago ×varia"}'.repeat(2))
  assert.equal(deleted, '')
  assert.match(token ?? '', /"token":"plst_/)
})

test('every link leads to a section or a file that is there', () => {
  const anchors = [...readme.matchAll(/^##+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )
  const links = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link)
  assert.ok(links.length > 20, 'there are links')
  for (const link of links) {
    if (link.startsWith('https:')) continue
    const isThere = link.startsWith('#')
      ? anchors.includes(link.slice(1))
      : existsSync(new URL(`../${link}`, import.meta.url))
    assert.ok(isThere, link)
  }
})

test('the table of settings is that of the program', () => {
  const rows = readme.split('\n').filter((line) => line.startsWith('| `PLANTSTORE_'))
  const expected = Object.entries(SETTINGS).map(([name, setting]) => {
    const preset = 'default' in setting ? `\`${setting.default}\`` : ''
    const flag =
      setting.type === 'secret'
        ? 'none: others could read it in the list of processes'
        : `\`${flagOf(name as SettingName)}\``
    return `| \`${variableOf(name as SettingName)}\` | ${flag} | ${preset} | ${setting.about} |`
  })
  assert.deepEqual(rows, expected)
})
