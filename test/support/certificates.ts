import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { Environment } from '../../src/config/setting.ts'
import { type Lifetime, temporaryFolder } from './http/start-app.ts'

/** A certificate for 127.0.0.1 and localhost, signed by itself, in files of its own. */
export interface TestCertificate {
  certFile: string
  keyFile: string
  /** The certificate in PEM, for those who are to trust it. */
  ca: string
  /** The settings with which the service uses it. */
  settings: Environment
}

/** Has OpenSSL make a certificate; it goes when the test ends. */
export function makeCertificate(
  test: Lifetime,
  { days = 90, commonName = 'localhost' }: { days?: number; commonName?: string } = {},
): TestCertificate {
  const folder = temporaryFolder(test)
  const certFile = join(folder, 'cert.pem')
  const keyFile = join(folder, 'key.pem')
  const parameters = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  parameters.push('-keyout', keyFile, '-out', certFile, '-days', String(days), '-subj', `/CN=${commonName}`)
  parameters.push('-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost')
  execFileSync('openssl', parameters, { stdio: 'pipe' })
  return {
    certFile,
    keyFile,
    ca: readFileSync(certFile, 'utf8'),
    settings: { PLANTSTORE_TLS_CERT: certFile, PLANTSTORE_TLS_KEY: keyFile },
  }
}

/** Has this process trust it, in `fetch` too. */
export function trustCertificate({ ca }: TestCertificate): void {
  setDefaultCACertificates([...getCACertificates('default'), ca])
}
