import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import fastify, { type FastifyRequest } from 'fastify'
import type { PlantStore } from '../../src/plants/plant-store.ts'
import { sendExport } from '../../src/plants/routes/export.ts'
import { eventually } from '../support/eventually.ts'
import type { OpenStorage } from './opened-storage.ts'

/** More text than the buffers of a connection hold. */
const PLANTS = 4_000
const NAME = 'Rosa '.repeat(2_000)

async function fill({ openImport }: PlantStore): Promise<void> {
  const importing = openImport({ onConflict: 'keep', dryRun: false })
  for (let from = 0; from < PLANTS; from += 200) {
    await importing.add(Array.from({ length: 200 }, (_, at) => ({ id: BigInt(from + at), name: NAME })))
  }
  await importing.close()
}

/** Begins an export to a client that reads nothing. Returns the request once its response has ended. */
async function exportToSilentClient(
  t: TestContext,
  plants: PlantStore,
  chunkTimeoutMs: number,
): Promise<FastifyRequest> {
  const ended = Promise.withResolvers<FastifyRequest>()
  const app = fastify()
  app.decorateRequest('caller')
  app.decorate('recordRequest', (request: FastifyRequest) => ended.resolve(request))
  app.get('/', (request, reply) => {
    request.caller = { id: 'a' } as FastifyRequest['caller']
    const recheckToken = (_request: FastifyRequest, done: () => void) => done()
    return sendExport(request, reply, {}, 'ndjson', {
      plants,
      recheckToken,
      exportTimeoutMs: 60_000,
      chunkTimeoutMs,
    })
  })
  t.after(() => app.close())
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const client = connect(Number(port), '127.0.0.1')
  t.after(() => void client.destroy())
  client.on('error', () => {})
  client.pause()
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  return ended.promise
}

export function describeSlowExports(open: OpenStorage): void {
  describe('export to a slow client', () => {
    test('ends when the client takes longer than the limit to read a chunk', async (t) => {
      const { plants } = await open(t)
      await fill(plants)
      let isReturned = false
      const watched: PlantStore = {
        ...plants,
        async *exportPlants(filter, options) {
          try {
            yield* plants.exportPlants(filter, options)
          } finally {
            isReturned = true
          }
        },
      }
      const { failure } = await exportToSilentClient(t, watched, 200)
      assert.equal(failure?.code, 40801)
      assert.match(failure?.message ?? '', /longer than 0\.2 seconds/)
      // Closing releases the snapshot.
      await eventually(() => isReturned)
    })
  })
}
