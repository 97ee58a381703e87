import { httpServerSuite } from './http-server-suite.ts'

await httpServerSuite()
