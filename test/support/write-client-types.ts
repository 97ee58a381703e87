// Writes what the client has in common with the service: its types from openapi.json, its error codes from src/errors.ts.
import { readFileSync, writeFileSync } from 'node:fs'
import { ERRORS } from '../../src/errors.ts'
import { clientErrorCodes, clientTypes } from './client-types.ts'

const file = (path: string) => new URL(`../../${path}`, import.meta.url)
const document = JSON.parse(readFileSync(file('openapi.json'), 'utf8'))
writeFileSync(file('src/client/plant-types.ts'), clientTypes(document))
writeFileSync(file('src/client/error-codes.ts'), clientErrorCodes(ERRORS))
