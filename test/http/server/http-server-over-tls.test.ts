import { after } from 'node:test'
import { makeCertificate, trustCertificate } from '../../support/certificates.ts'
import { httpServerSuite } from './http-server-suite.ts'

const certificate = makeCertificate({ after })
trustCertificate(certificate)
await httpServerSuite(certificate.settings)
