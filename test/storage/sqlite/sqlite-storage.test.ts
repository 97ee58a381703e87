import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { SetupError } from '../../../src/errors.ts'
import { hashToken, type StoredToken } from '../../../src/tokens/token.ts'
import { keepTrying } from '../../support/keep-trying.ts'
import { runPlantstore } from '../../support/process/plantstore-process.ts'
import { openFile, temporaryFolder } from './temporary-storage.ts'

const TOKEN: StoredToken = { id: 'token-1', label: 'kept', scopes: ['plants:read'], createdAtMs: 5 }
const IDEMPOTENCY = { caller: 'gardener', key: 'key-1', fingerprint: 'one' }

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

/** Ids as the list of what is not indexed holds them, as a literal of SQL. */
function blob(...ids: number[]): string {
  return `x'${Buffer.from(BigInt64Array.from(ids, BigInt).buffer).toString('hex')}'`
}

describe('a store that is opened again', () => {
  test('has its plants, tags, tokens, idempotency keys and search index', async (t) => {
    const path = join(temporaryFolder(t), 'plants.db')
    const first = await openFile(t, path)
    const created = await first.plants.create({ id: 1n, name: 'Rosa canina', tag: 'shrub' }, IDEMPOTENCY)
    await first.plants.create({ id: -(2n ** 63n), name: 'Iris' })
    await first.plants.update(1n, { name: 'Rosa alba' })
    await first.tokens.create(TOKEN, hashToken('a'))
    const plants = await first.plants.list({ limit: 10 })
    await first.close()

    const second = await openFile(t, path)
    assert.deepEqual(await second.plants.list({ limit: 10 }), plants)
    assert.deepEqual(await second.plants.countTags(10), [{ tag: 'shrub', count: 1 }])
    assert.deepEqual(await second.tokens.findByHash(hashToken('a')), TOKEN)
    const again = { id: 1n, name: 'Rosa canina', tag: 'shrub' }
    assert.deepEqual(await second.plants.create(again, IDEMPOTENCY), created)
    await keepTrying(async () => {
      const found = await second.plants.list({ limit: 10, words: ['rosa', 'alba'] })
      assert.equal(found.plants.length, 1)
    })
  })

  test('has every write that was acknowledged before the process was killed', async (t) => {
    const folder = temporaryFolder(t)
    const path = join(folder, 'plants.db')
    const running = await openFile(t, path)
    const created = await running.plants.create({ id: 1n, name: 'Rosa' }, IDEMPOTENCY)
    for (let id = 2n; id < 500n; id++) void running.plants.create({ id, name: 'Rosa' })
    await running.plants.create({ id: 500n, name: 'Iris' })
    // As a crash would leave them: the file, and the log beside it that has not been put back.
    const copy = join(folder, 'copy.db')
    copyFileSync(path, copy)
    copyFileSync(`${path}-wal`, `${copy}-wal`)

    const { plants } = await openFile(t, copy, { checkOnStart: true })
    const listed = await plants.list({ limit: 1000 })
    assert.deepEqual(
      listed.plants.map(({ id }) => id),
      Array.from({ length: 500 }, (_, at) => BigInt(at + 1)),
    )
    assert.deepEqual(await plants.create({ id: 1n, name: 'Rosa' }, IDEMPOTENCY), created)
    await keepTrying(async () => {
      assert.equal((await plants.list({ limit: 1000, words: ['rosa'] })).plants.length, 499)
      assert.equal((await plants.list({ limit: 1000, words: ['iris'] })).plants.length, 1)
    })
  })

  test('indexes the plants that were not indexed when the process ended', async (t) => {
    const path = join(temporaryFolder(t), 'plants.db')
    await (await openFile(t, path)).close()
    {
      using database = new DatabaseSync(path)
      database.exec(`INSERT INTO plants VALUES (1, 'Rosa', NULL, 1, 1, 1), (2, 'Iris', NULL, 1, 1, 1);
        INSERT INTO unindexed_batches (plant_ids) VALUES (${blob(1, 2)}), (${blob(1, 77)})`)
    }
    const { plants } = await openFile(t, path)
    await keepTrying(async () => {
      assert.equal((await plants.list({ limit: 10, words: ['rosa'] })).plants.length, 1)
    })
  })

  test('has the writes that were running when it was closed', async (t) => {
    const path = join(temporaryFolder(t), 'plants.db')
    const first = await openFile(t, path)
    const created = Promise.all(
      Array.from({ length: 3000 }, (_, at) => first.plants.create({ id: BigInt(at), name: 'Rosa' })),
    )
    await first.close()
    assert.ok((await created).every(({ outcome }) => outcome === 'created'))
    assert.deepEqual(readdirSync(join(path, '..')), ['plants.db'], 'the log is put back into the file')
    const second = await openFile(t, path)
    assert.equal((await second.plants.list({ limit: 10_000 })).plants.length, 3000)
  })

  test('responds to a ping until it is closed, then rejects it', async (t) => {
    const storage = await openFile(t, join(temporaryFolder(t), 'plants.db'))
    await storage.ping()
    await storage.close()
    await assert.rejects(storage.ping())
  })
})

describe('the files', () => {
  test('are created with their folder, all accessible to their owner only', async (t) => {
    const folder = join(temporaryFolder(t), 'made', 'when', 'missing')
    const path = join(folder, 'plants.db')
    // Whatever the process is set to: a looser mask does not loosen them.
    const mask = process.umask(0)
    try {
      const { plants } = await openFile(t, path)
      await plants.create({ id: 1n, name: 'Rosa' })
    } finally {
      process.umask(mask)
    }
    assert.equal(modeOf(folder), '700')
    for (const file of [path, `${path}-wal`, `${path}-shm`]) assert.equal(modeOf(file), '600', file)
  })

  test('have the mode of an existing database file', async (t) => {
    const path = join(temporaryFolder(t), 'plants.db')
    await (await openFile(t, path)).close()
    chmodSync(path, 0o640)
    const { plants } = await openFile(t, path)
    await plants.create({ id: 1n, name: 'Rosa' })
    for (const file of [path, `${path}-wal`, `${path}-shm`]) assert.equal(modeOf(file), '640', file)
  })
})

describe('a path that cannot be used', () => {
  /**
   * Opens the path in a process that root's powers are taken from, and returns the line that it fails with.
   */
  function startErrorOf(path: string): string {
    const program = `
      const { openStorage } = await import(${JSON.stringify(new URL('../../../src/storage/open-storage.ts', import.meta.url))})
      if (process.getuid() === 0) { process.setgroups([]); process.setgid(65534); process.setuid(65534) }
      try {
        await openStorage(${JSON.stringify(path)}, { idempotencyTtlMs: 1000, queuedWritesMax: 10, checkOnStart: false })
        console.log('it opened')
        process.exit()
      } catch (error) { console.log(error.name + ' ' + error.message) }`
    return execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  }

  test('fails with one line if a folder is in place of the file, or a file in place of the folder', async (t) => {
    const folder = temporaryFolder(t)
    writeFileSync(join(folder, 'file'), '')
    for (const [path, reason] of [
      [folder, 'it is a folder'],
      [join(folder, 'file', 'plants.db'), 'part of its path is not a folder'],
      [join(folder, 'file', 'deeper', 'plants.db'), 'part of its path is not a folder'],
    ] as const) {
      await assert.rejects(openFile(t, path), (error) => {
        assert.ok(error instanceof SetupError)
        assert.equal(error.message, `The database ${path} cannot be opened: ${reason}`)
        return true
      })
    }
  })

  test('fails with one line if the folder is not writable', { skip: !process.getuid }, (t) => {
    const folder = temporaryFolder(t)
    chmodSync(folder, 0o755)
    const closed = join(folder, 'closed')
    mkdirSync(closed)
    chmodSync(closed, 0o555)
    for (const path of [join(closed, 'plants.db'), join(closed, 'deeper', 'plants.db')]) {
      assert.equal(
        startErrorOf(path),
        `SetupError The database ${path} cannot be opened: permission denied\n`,
      )
      assert.equal(existsSync(path), false)
    }
  })

  test('fails with one line if the file is read-only', { skip: !process.getuid }, async (t) => {
    const folder = temporaryFolder(t)
    chmodSync(folder, 0o755)
    const path = join(folder, 'plants.db')
    await (await openFile(t, path)).close()
    chmodSync(path, 0o444)
    assert.equal(startErrorOf(path), `SetupError The database ${path} cannot be opened: permission denied\n`)
  })
})

test('a store that lacks a table fails to open with one line, and leaves no thread running', async (t) => {
  // What the writing thread and the searching one cannot begin without.
  for (const table of ['unindexed_batches', 'plant_words']) {
    const path = join(temporaryFolder(t), 'plants.db')
    await (await openFile(t, path)).close()
    {
      using database = new DatabaseSync(path)
      database.exec(`DROP TABLE ${table}`)
    }
    const { code, stderr } = await runPlantstore(t, ['serve', '--port', '0', '--database', path])
    assert.equal(stderr, `plantstore: The database ${path} cannot be opened: no such table: ${table}\n`)
    assert.equal(code, 1)
  }
})
