import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { startService } from '../support/process/service-process.ts'
import { temporaryFolder } from './sqlite/temporary-storage.ts'

const WRITERS = 16
/** Creates with pauses between them in which the search index is brought up to date. */
const PAUSED_CREATES = 10
const PAUSE_MS = 15

/**
 * Preloaded, it holds each sync while the gate exists. The log gets a "(" when a sync begins and a ")" when it
 * is done.
 */
const HELD_SYNC_SOURCE = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void record(const char *event) {
  int log = open(getenv("SYNC_LOG"), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (log < 0) return;
  if (write(log, event, 1) < 0) abort();
  close(log);
}

static int held(const char *name, int file) {
  record("(");
  struct timespec pause = {0, 1000000L};
  while (access(getenv("SYNC_GATE"), F_OK) == 0) nanosleep(&pause, NULL);
  int (*sync)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  int result = sync(file);
  record(")");
  return result;
}

int fsync(int file) { return held("fsync", file); }
int fdatasync(int file) { return held("fdatasync", file); }
`

/** Compiles the library into the folder. Undefined where there is no compiler. */
function compileHeldSync(folder: string): string | undefined {
  const source = join(folder, 'held-sync.c')
  const library = join(folder, 'held-sync.so')
  writeFileSync(source, HELD_SYNC_SOURCE)
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'], { stdio: 'ignore' })
    return library
  } catch (error) {
    if (process.env.CI) throw error
    return undefined
  }
}

/** A service on a disk whose syncs the test holds and counts. */
async function startOnHeldDisk(t: TestContext) {
  const folder = temporaryFolder(t)
  const library = compileHeldSync(folder)
  if (library === undefined) return undefined
  const log = join(folder, 'syncs')
  const gate = join(folder, 'gate')
  writeFileSync(log, '')
  const service = await startService(t, {
    database: join(folder, 'plants.db'),
    environment: { LD_PRELOAD: library, SYNC_LOG: log, SYNC_GATE: gate },
  })
  const count = (event: string) => readFileSync(log, 'utf8').split(event).length - 1
  return {
    begunSyncs: () => count('('),
    doneSyncs: () => count(')'),
    hold: () => writeFileSync(gate, ''),
    release: () => rmSync(gate),
    async create(id: number) {
      assert.equal((await service.request('POST', '/plants', { id, name: `Rosa ${id}` })).status, 200)
    },
    async read(path: string) {
      assert.equal((await service.request('GET', path)).status, 200)
    },
  }
}

describe('a slow disk', {
  skip: process.platform === 'linux' ? false : 'a library can be preloaded on Linux only',
}, () => {
  test('delays creates until their sync, which concurrent ones share, and no read', async (t) => {
    const disk = await startOnHeldDisk(t)
    if (disk === undefined) return t.skip('there is no C compiler')
    await disk.create(-1)
    disk.hold()
    const before = disk.begunSyncs()
    let responses = 0
    const create = async (id: number) => {
      await disk.create(id)
      responses++
    }
    const first = create(0)
    await eventually(() => disk.begunSyncs() > before)
    const others = Array.from({ length: WRITERS }, (_, at) => create(at + 1))
    for (let round = 0; round < 10; round++) {
      await Promise.all([disk.read('/plants/-1'), disk.read('/plants?limit=10')])
    }
    assert.equal(responses, 0, 'no create is acknowledged before its sync')
    disk.release()
    await Promise.all([first, ...others])
    const syncs = disk.doneSyncs() - before
    // Some may have arrived after the others were taken.
    assert.ok(syncs >= 2 && syncs <= WRITERS / 4, `${syncs} syncs`)
  })

  test('syncs once for each create of an idle service, before its response', async (t) => {
    const disk = await startOnHeldDisk(t)
    if (disk === undefined) return t.skip('there is no C compiler')
    await disk.create(-1)
    for (let id = 0; id < PAUSED_CREATES; id++) {
      const before = disk.doneSyncs()
      await disk.create(id)
      assert.ok(disk.doneSyncs() > before, 'synced at the moment of its response')
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      assert.equal(disk.begunSyncs() - before, 1, 'the search index costs no syncs')
    }
  })
})
