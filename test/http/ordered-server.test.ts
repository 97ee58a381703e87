import { orderedServerSuite } from './ordered-server-suite.ts'

await orderedServerSuite()
