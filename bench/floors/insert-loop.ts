import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

// The floor for storage: plants inserted in batches, each committed to disk, and nothing else; prints rows a
// second. insert-loop.ts <new file> <seconds> <rows a commit>

const WARM_UP_COMMITS = 50

const [, , path = '', seconds = '4', rowsPerCommit = '64'] = process.argv
const database = new DatabaseSync(path)
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 8000')
// The very table and index of the service.
database.exec(
  readFileSync(new URL('../../src/storage/sqlite/migrations/0001-plants.sql', import.meta.url), 'utf8'),
)
const insert = database.prepare(
  'INSERT INTO plants (id, name, tag, created_at, updated_at, version) VALUES (?1, ?2, ?3, ?4, ?4, ?1)',
)

let nextId = 1_000_000_000

function commitOnce(): void {
  const atMs = Date.now()
  database.exec('BEGIN IMMEDIATE')
  for (let row = 0; row < Number(rowsPerCommit); row++) insert.run(nextId++, 'Quercus robur', 'tree', atMs)
  database.exec('COMMIT')
}

for (let commit = 0; commit < WARM_UP_COMMITS; commit++) commitOnce()
const startMs = performance.now()
const firstId = nextId
while (performance.now() - startMs < Number(seconds) * 1000) commitOnce()
const rows = nextId - firstId
console.log(Math.round(rows / ((performance.now() - startMs) / 1000)))
database.close()
