import { orderedServerSuite } from './http-server-suite.ts'

await orderedServerSuite()
