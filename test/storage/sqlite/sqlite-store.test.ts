import { plantStoreSuite } from '../plant-store-suite.ts'
import { tokenStoreSuite } from '../token-store-suite.ts'
import { openTemporary } from './temporary-storage.ts'

plantStoreSuite('SQLite', openTemporary)
tokenStoreSuite('SQLite', openTemporary)
