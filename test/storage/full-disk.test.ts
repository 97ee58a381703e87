import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { keepTrying } from '../support/keep-trying.ts'
import { runPlantstore } from '../support/process/plantstore-process.ts'
import { type ServiceProcess, startService } from '../support/process/service-process.ts'
import { MOUNTING_SKIP, mountSmallDisk } from '../support/small-disk.ts'
import { temporaryFolder } from './sqlite/temporary-storage.ts'

const MEBI = 1024 * 1024

/** Responses to a write when the disk is full, or cannot be written to. */
const REJECTIONS = [
  [507, 50701],
  [503, 50302],
]

const isLinux = process.platform === 'linux'
/** How many of the ways to a full disk this machine offered. */
let waysTried = 0

/** Creates plants from several connections until many were rejected, and returns the ids of the others. */
async function fill(service: ServiceProcess, firstId: number): Promise<Set<number>> {
  const acknowledged = new Set<number>()
  let nextId = firstId
  let rejected = 0
  const connection = async () => {
    while (rejected < 60) {
      assert.ok(nextId < firstId + 20_000, 'the disk is full at some time')
      const id = nextId++
      const { status, body } = await service.request('POST', '/plants', {
        id,
        name: `Rosa ${id} ${'r'.repeat(3000)}`,
        tag: `tag ${id % 5}`,
      })
      if (status === 200) acknowledged.add(id)
      else {
        rejected++
        checkRejection(status, body)
      }
    }
  }
  await Promise.all(Array.from({ length: 8 }, connection))
  return acknowledged
}

function checkRejection(status: number, body: unknown): void {
  const { error, message } = body as { error: number; message: string }
  assert.ok(
    REJECTIONS.some(([allowedStatus, code]) => status === allowedStatus && error === code),
    `${status} ${error}`,
  )
  assert.doesNotMatch(message, /sqlite|SQL|\//i)
}

async function storedIds(service: ServiceProcess): Promise<Set<number>> {
  const ids = new Set<number>()
  for (let after = ''; ; after = `&after=${Math.max(...ids)}`) {
    const { status, body } = await service.request('GET', `/plants?limit=1000${after}`)
    assert.equal(status, 200)
    const page = body as { id: number; name: string }[]
    for (const { id, name } of page) {
      assert.ok(name === `Rosa ${id} ${'r'.repeat(3000)}` || name === 'small')
      ids.add(id)
    }
    if (page.length === 0) return ids
  }
}

/** Fills the storage of a running service, checks its responses, frees it, and checks that writes work again. */
async function checkFullStorage(service: ServiceProcess, free: () => void): Promise<Set<number>> {
  const acknowledged = await fill(service, 1)
  assert.ok(acknowledged.size > 50, `${acknowledged.size} were stored before the storage was full`)
  assert.deepEqual(await storedIds(service), acknowledged)
  // Reads still work.
  for (const path of ['/plants/1', '/tags', '/plants?q=rosa', '/tokens', '/healthz', '/readyz']) {
    assert.equal((await service.request('GET', path)).status, 200, path)
  }
  // Other writes are rejected in the same way, or done if there is room; readiness says which.
  const writes = async () => ((await service.request('GET', '/readyz')).body as { writes: string }).writes
  for (const [method, path, sent] of [
    ['PUT', '/plants/2', { name: `Rosa 2 ${'r'.repeat(3000)}` }],
    ['PATCH', '/plants/2', { name: `Rosa 2 ${'r'.repeat(3000)}` }],
    ['POST', '/tokens', { label: 'l', scopes: ['plants:read'] }],
    ['DELETE', '/plants/-1', undefined],
  ] as const) {
    const { status, body } = await service.request(method, path, sent)
    const isDone = [200, 201, 404].includes(status)
    if (!isDone) checkRejection(status, body)
    assert.equal(await writes(), isDone ? 'working' : 'failing', `${method} ${status}`)
  }

  free()
  await keepTrying(async () => {
    const { status } = await service.request('POST', '/plants', { id: 100_000, name: 'small' })
    assert.equal(status, 200)
  })
  assert.equal(await writes(), 'working')
  acknowledged.add(100_000)
  assert.deepEqual(await storedIds(service), acknowledged)
  return acknowledged
}

describe('a full disk', () => {
  test('rejects writes and no reads, keeps acknowledged writes, and accepts more once there is room', {
    skip: MOUNTING_SKIP,
  }, async (t) => {
    const disk = mountSmallDisk(t)
    if (disk === undefined) return t.skip('a small file system cannot be mounted here')
    waysTried++
    const ballast = join(disk, 'ballast')
    writeFileSync(ballast, Buffer.alloc(3 * MEBI))
    const database = join(disk, 'plants.db')
    const service = await startService(t, { database })
    const acknowledged = await checkFullStorage(service, () => rmSync(ballast))

    // A service stops on a full disk as usual, and keeps every plant.
    for (const id of await fill(service, 200_000)) acknowledged.add(id)
    assert.equal(await service.stop(), 0, service.errors())
    const again = await startService(t, { database, environment: { PLANTSTORE_CHECK_ON_START: 'true' } })
    assert.deepEqual(await storedIds(again), acknowledged)
  })

  test('keeps a service from starting, which says so, and a store from being made by halves', {
    skip: MOUNTING_SKIP,
  }, async (t) => {
    const disk = mountSmallDisk(t)
    if (disk === undefined) return t.skip('a small file system cannot be mounted here')
    const ballast = join(disk, 'ballast')
    const start = async (database: string, freeKibibytes: number) => {
      rmSync(ballast, { force: true })
      const { bavail, bsize } = statfsSync(disk)
      writeFileSync(ballast, Buffer.alloc(bavail * bsize - freeKibibytes * 1024))
      const { code, stderr } = await runPlantstore(t, ['serve', '--port', '0', '--database', database])
      assert.equal(stderr, `plantstore: The database ${database} cannot be opened: the disk is full\n`)
      assert.equal(code, 1)
    }
    // No room for the file, for what is beside its log, and for the log.
    for (const freeKibibytes of [0, 16, 44]) await start(join(disk, 'new.db'), freeKibibytes)
    rmSync(ballast)
    const old = join(disk, 'old.db')
    await (await startService(t, { database: old })).stop()
    await start(old, 0)
    rmSync(ballast)
    for (const database of [join(disk, 'new.db'), old]) {
      assert.equal(await (await startService(t, { database })).stop(), 0)
    }
  })

  test('is met in the same way where a file may not grow any more', {
    skip: isLinux && existsSync('/usr/bin/prlimit') ? false : 'prlimit, of Linux, is not here',
  }, async (t) => {
    waysTried++
    const database = join(temporaryFolder(t), 'plants.db')
    const launcher = ['prlimit', `--fsize=${2 * MEBI}:unlimited`]
    const service = await startService(t, { database, launcher })
    await checkFullStorage(service, () => {
      execFileSync('prlimit', [`--pid=${service.pid}`, '--fsize=unlimited:unlimited'])
    })
    assert.equal(await service.stop(), 0, service.errors())
  })

  test('has been tried in one way at least where everything is to be checked', {
    skip: process.env.CI ? false : 'CI is not set',
  }, () => {
    assert.ok(waysTried > 0, 'neither a small file system nor a limit on files can be had here')
  })
})
