import Database from 'better-sqlite3'
import express from 'express'
import { z } from 'zod'

// The same job, written the way it usually is: validate, insert, respond. express-peer.js <database file>

const database = new Database(process.argv[2])
database.pragma('journal_mode = WAL')
database.pragma('synchronous = FULL')
database.exec(`
  CREATE TABLE IF NOT EXISTS plants (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    tag        TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS plants_by_tag ON plants (tag, id);
`)
const insertPlant = database.prepare(
  'INSERT INTO plants (id, name, tag, created_at, updated_at) VALUES (@id, @name, @tag, @now, @now)',
)
const selectPlant = database.prepare('SELECT * FROM plants WHERE id = ?')
const selectPage = database.prepare('SELECT * FROM plants WHERE id > ? ORDER BY id LIMIT ?')

const NewPlant = z.object({ id: z.int(), name: z.string(), tag: z.string().optional() })
const ListQuery = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  after: z.coerce.number().int().default(Number.MIN_SAFE_INTEGER),
})

const app = express()
app.disable('x-powered-by')

app.use((request, response, next) => {
  if (request.get('authorization') === `Bearer ${process.env.TOKEN}`) return next()
  response.status(401).set('www-authenticate', 'Bearer').json({ error: 401, message: 'A token is needed.' })
})
app.use(express.json())

app.post('/plants', (request, response) => {
  const { success, data, error } = NewPlant.safeParse(request.body)
  if (!success) return response.status(400).json({ error: 400, message: z.prettifyError(error) })
  const { id, name, tag } = data
  try {
    insertPlant.run({ id, name, tag: tag ?? null, now: new Date().toISOString() })
  } catch (failure) {
    if (failure.code !== 'SQLITE_CONSTRAINT_PRIMARYKEY') throw failure
    return response.status(400).json({ error: 409, message: `The id ${id} is taken.` })
  }
  response.location(`/plants/${id}`).json({ name, tag })
})

app.get('/plants/:id', (request, response) => {
  const row = selectPlant.get(request.params.id)
  if (row === undefined) return response.status(404).json({ error: 404, message: 'There is no such plant.' })
  response.json(toPlant(row))
})

app.get('/plants', (request, response) => {
  const { success, data, error } = ListQuery.safeParse(request.query)
  if (!success) return response.status(400).json({ error: 400, message: z.prettifyError(error) })
  response.json(selectPage.all(data.after, data.limit).map(toPlant))
})

app.use((failure, _request, response, _next) => {
  response.status(failure.status ?? 500).json({ error: failure.status ?? 500, message: failure.message })
})

const server = app.listen(0, '127.0.0.1', () => {
  console.log(`Express is at http://127.0.0.1:${server.address().port}`)
})

function toPlant({ id, name, tag, created_at, updated_at }) {
  return { id, name, tag: tag ?? undefined, createdAt: created_at, updatedAt: updated_at }
}
