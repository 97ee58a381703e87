// Writes openapi.json: the document as a service with the default settings serves it, laid out to be read and
// compared.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { readConfig } from '../../src/config/read-config.ts'
import { serve } from '../../src/serve.ts'

const folder = await mkdtemp(join(tmpdir(), 'plantstore-openapi-'))
const config = readConfig({}, { PLANTSTORE_PORT: '0', PLANTSTORE_DATABASE: join(folder, 'plants.db') })
const service = await serve(config, pino({ level: 'silent' }))
try {
  const response = await fetch(`${service.url}/openapi.json`)
  const target = new URL('../../openapi.json', import.meta.url)
  await writeFile(target, `${JSON.stringify(await response.json(), null, 2)}\n`)
} finally {
  await service.stop()
  await rm(folder, { recursive: true })
}
