import { malformedRequestsSuite } from './malformed-requests-suite.ts'

await malformedRequestsSuite()
