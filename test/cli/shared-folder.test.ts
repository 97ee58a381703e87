import assert from 'node:assert/strict'
import {
  chmodSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type TestContext, test } from 'node:test'
import { commandsOn } from './run-command.ts'
import { startStore } from './start-store.ts'

/** A user who is neither this one nor the owner of the folder. */
const STRANGER = 12_345

const skip = process.getuid?.() !== 0 && 'not root'

/** A store, and a sticky folder `shared` like /tmp with a link of another user to `target`, a name beside the folder. */
async function startShared(t: TestContext, target: string) {
  const store = await startStore(t)
  mkdirSync(store.at('shared'))
  chmodSync(store.at('shared'), 0o1777)
  symlinkSync(store.at(target), store.at('shared/link'))
  lchownSync(store.at('shared/link'), STRANGER, STRANGER)
  return store
}

const REJECTED =
  /^plantstore: \S+shared\/link is a link of another user in a shared folder: name another file\.\n$/

test('nothing is created where a link of another user in a shared folder leads', { skip }, async (t) => {
  const { run, at, folder } = await startShared(t, 'chosen')
  await run(['backup', 'one.db', '--database', 'plants.db'])
  const before = readdirSync(folder).sort()
  const link = at('shared/link')
  symlinkSync(link, at('own-link'))
  for (const words of [
    ['backup', link, '--database', 'plants.db'],
    ['backup', at('own-link'), '--database', 'plants.db'],
    ['serve', '--port', '0', '--database', link],
    ['token', 'create', '--scope', 'plants:read', '--label', 'l', '--database', link],
    ['restore', 'one.db', '--database', link],
  ]) {
    const { code, stderr } = await run(words)
    assert.equal(code, 1, words.join(' '))
    if (words[0] === 'token') assert.match(stderr, /There is no (?:store|database) at/)
    else assert.match(stderr, REJECTED)
  }
  assert.deepEqual(readdirSync(folder).sort(), [...before, 'own-link'].sort())
  assert.deepEqual(readdirSync(at('shared')), ['link'])
})

test('nothing is replaced where a link of another user in a shared folder leads', { skip }, async (t) => {
  const { run, at, app, folder } = await startShared(t, 'precious')
  writeFileSync(at('precious'), 'precious')
  await run(['backup', 'one.db', '--database', 'plants.db'])
  for (const words of [
    ['backup', at('shared/link'), '--database', 'plants.db', '--force'],
    ['restore', 'one.db', '--database', at('shared/link'), '--force'],
    ['export', at('shared/link'), '--format', 'csv'],
  ]) {
    const { code, stderr } = await commandsOn(t, app)(words, { folder })
    assert.equal(code, 1, words.join(' '))
    assert.match(stderr, REJECTED)
  }
  assert.equal(readFileSync(at('precious'), 'utf8'), 'precious')
})

test('links of the user, of the owner of the folder, and in other folders are followed', {
  skip,
}, async (t) => {
  const { run, at } = await startShared(t, 'unused')
  mkdirSync(at('private'))
  for (const link of ['shared/own', 'private/foreign']) symlinkSync(at(`${link}.db`), at(link))
  lchownSync(at('private/foreign'), STRANGER, STRANGER)
  for (const link of ['shared/own', 'private/foreign']) {
    const { code, stderr } = await run(['backup', at(link), '--database', 'plants.db'])
    assert.equal(code, 0, stderr)
    assert.ok(lstatSync(at(link)).isSymbolicLink())
    assert.ok(lstatSync(at(`${link}.db`)).isFile())
  }
})

test('SQLite does not write through a link beside the database', async (t) => {
  const { run, at, app } = await startStore(t)
  await run(['backup', 'one.db', '--database', 'plants.db'])
  await app.stop()
  for (const end of ['-wal', '-shm', '-journal']) {
    symlinkSync(at('chosen'), at(`one.db${end}`))
    for (const words of [
      ['serve', '--port', '0', '--database', 'one.db'],
      ['check', 'one.db'],
      ['backup', 'two.db', '--database', 'one.db'],
      ['restore', 'plants.db', '--database', 'one.db', '--force'],
      ['backup', 'one.db', '--database', 'plants.db', '--force'],
    ]) {
      const { code, stderr } = await run(words)
      assert.equal(code, 1, words.join(' '))
      assert.match(stderr, /one\.db-(?:wal|shm|journal) (?:is a link: remove it|belongs to a database)/)
    }
  }
  assert.throws(() => lstatSync(at('chosen')))
})
