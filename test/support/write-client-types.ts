// Writes src/client/plant-types.ts: the types of the client, from the schemas in openapi.json.
import { readFileSync, writeFileSync } from 'node:fs'
import { clientTypes } from './client-types.ts'

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))
writeFileSync(new URL('../../src/client/plant-types.ts', import.meta.url), clientTypes(document))
