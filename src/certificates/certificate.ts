import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { SetupError } from '../errors.ts'
import { type CertificatePair, CONTEXT_OPTIONS } from '../http/connections/server-tls.ts'

/** The maximum size of a file: a certificate chain has some kilobytes. */
const FILE_BYTES_MAX = 1024 * 1024

/** The paths of a certificate and its key, in PEM. */
export interface CertificateFiles {
  certFile: string
  keyFile: string
}

/** Reads both files. Throws a SetupError with the file that cannot be read and the reason. */
export async function readPair({ certFile, keyFile }: CertificateFiles): Promise<CertificatePair> {
  const [cert, key] = await Promise.all([
    readPem(certFile, 'certificate'),
    readPem(keyFile, 'key of the certificate'),
  ])
  return { cert, key }
}

async function readPem(file: string, what: string): Promise<Buffer> {
  // Regular files only: a pipe or device may never end, and a pending read would block the exit of the process.
  let size: number | undefined
  try {
    const stats = await stat(file)
    if (stats.isFile() || stats.isDirectory()) size = stats.size
    if (size !== undefined && size <= FILE_BYTES_MAX) return await readFile(file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = { ENOENT: 'there is no such file', EACCES: 'permission denied', EISDIR: 'it is a folder' }[
      code ?? ''
    ]
    throw new SetupError(`The ${what} ${file} cannot be read: ${reason ?? message}.`)
  }
  const reason = size === undefined ? 'it is not a file' : `it is larger than ${FILE_BYTES_MAX} bytes`
  throw new SetupError(`The ${what} ${file} cannot be read: ${reason}.`)
}

/**
 * Checks that a server can use the pair. Returns the expiry of the certificate, in milliseconds since 1970; it may be
 * in the past. Throws a SetupError with the reason.
 */
export function checkPair({ cert, key }: CertificatePair, { certFile, keyFile }: CertificateFiles): number {
  const certificate = attempt(
    () => new X509Certificate(cert),
    `${certFile} has no certificate in PEM ("-----BEGIN CERTIFICATE-----")`,
  )
  if (/^-----BEGIN ENCRYPTED|^Proc-Type: 4,ENCRYPTED/m.test(key.toString('latin1'))) {
    throw new SetupError(
      `The key in ${keyFile} is encrypted. Write it without a passphrase ("openssl pkey"), readable only by the service.`,
    )
  }
  const privateKey = attempt(
    () => createPrivateKey(key),
    `${keyFile} has no private key in PEM ("-----BEGIN PRIVATE KEY-----")`,
  )
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new SetupError(
      `The key in ${keyFile} does not belong to the first certificate in ${certFile}. Put the certificate of the service first and its chain after it.`,
    )
  }
  attempt(
    () => createSecureContext({ ...CONTEXT_OPTIONS, cert, key }),
    `The certificate in ${certFile} cannot be used`,
  )
  return certificate.validToDate.getTime()
}

function attempt<Result>(run: () => Result, failure: string): Result {
  try {
    return run()
  } catch (error) {
    throw new SetupError(`${failure}: ${(error as Error).message.replace(/\s+/g, ' ')}.`)
  }
}
