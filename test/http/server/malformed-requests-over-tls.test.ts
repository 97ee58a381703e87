import { after } from 'node:test'
import { makeCertificate, trustCertificate } from '../../support/certificates.ts'
import { malformedRequestsSuite } from './malformed-requests-suite.ts'

const certificate = makeCertificate({ after })
trustCertificate(certificate)
await malformedRequestsSuite(certificate.settings)
