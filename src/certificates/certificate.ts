import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { SetupError } from '../errors.ts'
import { type CertificatePair, CONTEXT_OPTIONS } from '../http/connections/server-tls.ts'

/** A chain has some kilobytes; a larger file is none. */
const PART_BYTES_MAX = 1024 * 1024

/** Where a certificate and its key are: files in PEM. */
export interface CertificateFiles {
  certFile: string
  keyFile: string
}

/** Reads both files. Throws a SetupError that names the one that cannot be read, and why. */
export async function readPair({ certFile, keyFile }: CertificateFiles): Promise<CertificatePair> {
  const [cert, key] = await Promise.all([
    readPart(certFile, 'certificate'),
    readPart(keyFile, 'key of the certificate'),
  ])
  return { cert, key }
}

async function readPart(file: string, what: string): Promise<Buffer> {
  // Read again and again: a pipe or a device may never end, and would keep the service from ending, too.
  let size: number | undefined
  try {
    const stats = await stat(file)
    if (stats.isFile() || stats.isDirectory()) size = stats.size
    if (size !== undefined && size <= PART_BYTES_MAX) return await readFile(file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = { ENOENT: 'there is no such file', EACCES: 'permission denied', EISDIR: 'it is a folder' }[
      code ?? ''
    ]
    throw new SetupError(`The ${what} ${file} cannot be read: ${reason ?? message}.`)
  }
  const reason = size === undefined ? 'it is no file' : `it is larger than ${PART_BYTES_MAX} bytes`
  throw new SetupError(`The ${what} ${file} cannot be read: ${reason}.`)
}

/**
 * Whether a server can use the pair: says when it ends, in milliseconds since 1970. Throws a SetupError that says
 * what is wrong with it; that it has ended is not.
 */
export function checkPair({ cert, key }: CertificatePair, { certFile, keyFile }: CertificateFiles): number {
  const certificate = attempt(
    () => new X509Certificate(cert),
    `${certFile} holds no certificate in PEM ("-----BEGIN CERTIFICATE-----")`,
  )
  if (/^-----BEGIN ENCRYPTED|^Proc-Type: 4,ENCRYPTED/m.test(key.toString('latin1'))) {
    throw new SetupError(
      `The key in ${keyFile} is encrypted: write it without a passphrase ("openssl pkey"), readable to the service alone.`,
    )
  }
  const privateKey = attempt(
    () => createPrivateKey(key),
    `${keyFile} holds no private key in PEM ("-----BEGIN PRIVATE KEY-----")`,
  )
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new SetupError(
      `The key in ${keyFile} does not belong to the first certificate in ${certFile}, which is that of the service; those that it hangs on follow it.`,
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
