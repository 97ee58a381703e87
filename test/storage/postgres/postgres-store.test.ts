import { describe } from 'node:test'
import { postgresMissing } from '../../support/postgres/postgres-server.ts'
import { plantStoreSuite } from '../plant-store-suite.ts'
import { tokenStoreSuite } from '../token-store-suite.ts'
import { emptyDatabases, sharePostgres } from './temporary-database.ts'

describe('on a real server', { skip: postgresMissing }, () => {
  const open = emptyDatabases(sharePostgres())
  plantStoreSuite('PostgreSQL', open)
  tokenStoreSuite('PostgreSQL', open)
})
