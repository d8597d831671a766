import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import type { Address } from '../../../infrastructure/eventstoredb/connection.ts'
import { createQueryNode, type Certificates } from '../../../infrastructure/eventstoredb/nodes/gossip.ts'
import { addressFrom, gossipAnswer, type EventStoreDbNode } from '../../support/worlds/eventstoredb-gossip.ts'
import { listen } from '../../support/tools/listen.ts'
import { testWith } from '../../support/running/skip-unless.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const OPENSSL = '/usr/bin/openssl'
const run = promisify(execFile)
/** A limit above the time of every answer, and a short limit for nodes that never answer. */
const [LONG_MS, SHORT_MS] = [60_000, 50]

test('an unreadable, broken, endless or missing answer counts as no answer', async (t) => {
  for (const body of ['{}', 'no JSON', '{"members":3}', `{"members":[],"more":"${'x'.repeat(2 * 1024 * 1024)}"}`]) {
    const server = createServer((_, response) => response.end(body))
    t.is(await createQueryNode(null, LONG_MS)(addressFrom(await listen(t, server))), null, body.slice(0, 20))
  }
  const broken = createServer((_, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('{"members":')
    response.destroy()
  })
  t.is(await createQueryNode(null, LONG_MS)(addressFrom(await listen(t, broken))), null)
  // Like a frozen process: the kernel accepts the connection, but no process reads from it.
  const frozen = createTcpServer()
  await new Promise<void>((resolve) => frozen.listen(0, '127.0.0.1', resolve))
  t.teardown(() => void frozen.close())
  t.is(await createQueryNode(null, SHORT_MS)({ host: '127.0.0.1', port: (frozen.address() as AddressInfo).port }), null)
  t.is(await createQueryNode(null, LONG_MS)({ host: '127.0.0.1', port: 1 }), null)
})

testWith(OPENSSL)('a node needs a trusted certificate for its address or for the host name', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const certify = async (name: string, subject: string): Promise<{ readonly key: Buffer; readonly cert: Buffer }> => {
    const [key, cert] = [join(path, `${name}.key`), join(path, `${name}.crt`)]
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    await run(OPENSSL, [
      'req',
      '-x509',
      ...curve,
      '-subj',
      `/CN=${name}`,
      '-addext',
      `subjectAltName=${subject}`,
      '-keyout',
      key,
      '-out',
      cert,
    ])
    return { key: await readFile(key), cert: await readFile(cert) }
  }
  const [numbered, named, client] = await Promise.all([
    certify('numbered', 'IP:127.0.0.1'),
    certify('named', 'DNS:cluster.example'),
    certify('client', 'DNS:client'),
  ])
  const serve = async (server: { readonly key: Buffer; readonly cert: Buffer }): Promise<Address> => {
    const nodes: ReadonlyArray<EventStoreDbNode> = [{ state: 'Leader', epoch: 1 }]
    const listening = createSecureServer(
      { ...server, ca: client.cert, requestCert: true, rejectUnauthorized: true },
      (_, response) => response.end(gossipAnswer(nodes, 0, () => ({ host: 'node0', port: 1 }))),
    )
    return addressFrom(await listen(t, listening))
  }
  const [first, second] = [await serve(numbered), await serve(named)]
  const own = { cert: client.cert, key: client.key }
  const leadsIn = async (certificates: Certificates, address: Address) =>
    (await createQueryNode(certificates, LONG_MS)(address))?.leadsIn ?? null
  t.is(await leadsIn({ ...own, ca: numbered.cert }, first), 1)
  t.is(await leadsIn({ ...own, ca: named.cert }, first), null, 'signed by another authority')
  t.is(await leadsIn({ ca: numbered.cert }, first), null, 'without the certificate that the server requires')
  t.is(await leadsIn(null, first), null, 'without TLS')
  t.is(await leadsIn({ ...own, ca: named.cert }, second), null, 'a certificate for another host name')
  t.is(await leadsIn({ ...own, ca: named.cert }, { ...second, alias: 'cluster.example' }), 1)
})
