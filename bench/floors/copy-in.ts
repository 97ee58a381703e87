import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import postgres from 'postgres'
import { searchWords } from '../../src/plants/plant-search.ts'
import { namedPlantJson } from '../plant-names.ts'

// The floor for an import into PostgreSQL: the same rows into the tables of the service by COPY, in one
// transaction; prints rows a second. copy-in.ts <URL> <plants>

const ROWS_PER_PIECE = 1_000

const [, , url = '', plants = '1000000'] = process.argv
const chunks: Buffer[] = []
let text = ''
for (let number = 1; number <= Number(plants); number++) {
  const { id, name, tag } = JSON.parse(namedPlantJson(number)) as { id: number; name: string; tag: string }
  const atMs = Date.now()
  const words = searchWords(name)
    .map((word) => `'${word}'`)
    .join(' ')
  text += `${[id, name, tag, atMs, atMs, id, words].join('\t')}\n`
  if (number % ROWS_PER_PIECE > 0 && number < Number(plants)) continue
  chunks.push(Buffer.from(text))
  text = ''
}

const sql = postgres(url, { max: 1 })
const columns = 'id, name, tag, created_at, updated_at, version, words'
const startMs = performance.now()
const copy = await sql.unsafe(`COPY plants (${columns}) FROM STDIN`).writable()
await pipeline(Readable.from(chunks), copy)
console.log(Math.round(Number(plants) / ((performance.now() - startMs) / 1000)))
await sql.end()
