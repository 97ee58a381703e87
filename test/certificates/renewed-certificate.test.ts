import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { readPair } from '../../src/certificates/certificate.ts'
import {
  openCertificate,
  type RenewedCertificateOptions,
} from '../../src/certificates/renewed-certificate.ts'
import { makeCertificate, type TestCertificate } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/http/start-app.ts'

const DAY_MS = 86_400_000

/** Files under links, as Kubernetes mounts a secret: `data` links to the current folder. */
function mountSecret(test: TestContext, first: TestCertificate) {
  const folder = temporaryFolder(test)
  const pointTo = ({ certFile }: TestCertificate) => {
    symlinkSync(dirname(certFile), join(folder, 'next'))
    renameSync(join(folder, 'next'), join(folder, 'data'))
  }
  pointTo(first)
  return { pointTo, certFile: join(folder, 'data/cert.pem'), keyFile: join(folder, 'data/key.pem') }
}

async function open(
  test: TestContext,
  files: { certFile: string; keyFile: string },
  options: Pick<RenewedCertificateOptions, 'nowMs' | 'checkIntervalMs' | 'read'> = {},
) {
  const log: Record<string, unknown>[] = []
  const certificate = await openCertificate({
    files,
    log: pino({}, { write: (line) => void log.push(JSON.parse(line)) }),
    checkIntervalMs: 10,
    ...options,
  })
  test.after(() => certificate.stop())
  const used: string[] = []
  certificate.follow({ setSecureContext: ({ cert }) => void used.push(String(cert)) })
  const levels = () => log.map(({ level }) => Number(level))
  return { certificate, log, levels, used }
}

test('a certificate that is replaced through its link is used without a signal', async (test) => {
  const [first, second] = [makeCertificate(test), makeCertificate(test)]
  const secret = mountSecret(test, first)
  const { certificate, log, used } = await open(test, secret)
  assert.equal(String(certificate.certificate.cert), first.ca)
  secret.pointTo(second)
  await eventually(() => used.length > 0)
  assert.deepEqual(used, [second.ca])
  assert.equal(String(certificate.certificate.cert), second.ca)
  assert.match(String(log.at(-1)?.expiresAt), /^\d{4}-\d\d-\d\dT/)
})

test('a certificate that cannot be used is logged once, and the old one stays', async (test) => {
  const [first, second] = [makeCertificate(test), makeCertificate(test)]
  const { certificate, log, levels, used } = await open(test, first)
  copyFileSync(second.certFile, first.certFile)
  await eventually(() => levels().includes(50))
  assert.match(
    String(log.at(-1)?.reason),
    /^The key in \S+ does not belong to the first certificate in \S+\./,
  )
  // After many checks there is still one line; a reload logs it again.
  let waits = 0
  await eventually(() => ++waits > 40)
  assert.equal(levels().filter((level) => level === 50).length, 1)
  await certificate.reload()
  assert.equal(levels().filter((level) => level === 50).length, 2)
  assert.deepEqual(used, [])
  assert.equal(String(certificate.certificate.cert), first.ca)
  copyFileSync(second.keyFile, first.keyFile)
  await eventually(() => used.length > 0)
  assert.deepEqual(used, [second.ca])
})

test('a check that reads slowly does not undo a reload', async (test) => {
  const [first, second, third] = [makeCertificate(test), makeCertificate(test), makeCertificate(test)]
  const secret = mountSecret(test, first)
  const begun = Promise.withResolvers<void>()
  const mayEnd = Promise.withResolvers<void>()
  let reads = 0
  const { certificate, used } = await open(test, secret, {
    async read(files) {
      const pair = await readPair(files)
      // The first check after the start.
      if (++reads === 2) {
        begun.resolve()
        await mayEnd.promise
      }
      return pair
    },
  })
  await begun.promise
  secret.pointTo(second)
  await certificate.reload()
  mayEnd.resolve()
  await eventually(() => used.length > 0)
  secret.pointTo(third)
  await eventually(() => used.at(-1) === third.ca)
  assert.deepEqual(used, [second.ca, third.ca])
})

test('the expiry of a certificate is logged at the start, and daily in the last two weeks', async (test) => {
  const { certFile, keyFile } = makeCertificate(test, { days: 20 })
  let nowMs = Date.now()
  const { log, levels } = await open(test, { certFile, keyFile }, { nowMs: () => nowMs })
  assert.deepEqual(levels(), [30])
  nowMs += 7 * DAY_MS
  await eventually(() => levels().length === 2)
  assert.deepEqual([log[1]?.level, log[1]?.msg], [40, 'the certificate expires soon'])
  nowMs += DAY_MS
  await eventually(() => levels().length === 3)
  nowMs += 14 * DAY_MS
  await eventually(() => levels().length === 4)
  assert.match(String(log[3]?.msg), /has expired/)
})

test('an invalid certificate or key is rejected in one line with the file and the reason', async (test) => {
  const { certFile, keyFile } = makeCertificate(test)
  const other = makeCertificate(test)
  const [pipe, large] = [`${certFile}.pipe`, `${certFile}.large`]
  execFileSync('mkfifo', [pipe])
  writeFileSync(large, Buffer.alloc(1024 * 1024 + 1))
  const cases: [string, string, RegExp][] = [
    [pipe, keyFile, /^The certificate \S+ cannot be read: it is not a file\.$/],
    [certFile, '/dev/zero', /^The key of the certificate \S+ cannot be read: it is not a file\.$/],
    [large, keyFile, /^The certificate \S+ cannot be read: it is larger than 1048576 bytes\.$/],
    [`${certFile}x`, keyFile, /^The certificate \S+x cannot be read: there is no such file\.$/],
    [certFile, dirname(keyFile), /^The key of the certificate \S+ cannot be read: it is a folder\.$/],
    [keyFile, keyFile, /key\.pem has no certificate in PEM/],
    [certFile, certFile, /cert\.pem has no private key in PEM/],
    [certFile, other.keyFile, /does not belong/],
  ]
  for (const [cert, key, message] of cases) {
    await assert.rejects(open(test, { certFile: cert, keyFile: key }), { name: 'SetupError', message })
  }
  assert.ok(readFileSync(keyFile, 'utf8').includes('PRIVATE KEY'))
})

test('while a read hangs there is no other, and the expiry is still logged', async (test) => {
  const { certFile, keyFile } = makeCertificate(test)
  const files = { certFile, keyFile }
  let reads = 0
  let isOld = false
  const read: typeof readPair = (files) => (reads++ === 0 ? readPair(files) : new Promise(() => {}))
  const nowMs = () => (isOld ? Date.parse('9999-01-01') : Date.now())
  const { log } = await open(test, files, { read, nowMs })
  await eventually(() => reads === 2)
  isOld = true
  await eventually(() => log.some(({ msg }) => /^the certificate has expired/.test(String(msg))))
  assert.equal(reads, 2)
})
