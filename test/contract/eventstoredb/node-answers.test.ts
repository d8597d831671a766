import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
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
const ADA = { username: 'ada', password: 'secret' }

const query = (certificates: Certificates, address: Address, limitMs = LONG_MS) =>
  createQueryNode(certificates, ADA, limitMs)(address)

test('an answer that is unreadable, broken, endless, refused or missing has a cause for the operator', async (t) => {
  for (const [body, cause] of [
    ['{}', 'an answer without members'],
    ['no JSON', `Unexpected token 'o', "no JSON" is not valid JSON`],
    ['{"members":3}', 'an answer without members'],
    [`{"members":[],"more":"${'x'.repeat(2 * 1024 * 1024)}"}`, 'an answer that is too long'],
  ] as const) {
    const server = createServer((_, response) => response.end(body))
    t.deepEqual(await query(null, addressFrom(await listen(t, server))), E.left(cause))
  }
  const broken = createServer((_, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('{"members":')
    response.destroy()
  })
  t.true(E.isLeft(await query(null, addressFrom(await listen(t, broken)))))
  const closed = createServer((_, response) => response.writeHead(401).end('{"members":[]}'))
  t.deepEqual(await query(null, addressFrom(await listen(t, closed))), E.left('HTTP 401'))
  // Like a frozen process: the kernel accepts the connection, but no process reads from it.
  const frozen = createTcpServer()
  await new Promise<void>((resolve) => frozen.listen(0, '127.0.0.1', resolve))
  t.teardown(() => void frozen.close())
  const { port } = frozen.address() as AddressInfo
  t.deepEqual(await query(null, { host: '127.0.0.1', port }, SHORT_MS), E.left('no answer'))
  t.deepEqual(await query(null, { host: '127.0.0.1', port: 1 }), E.left('connect ECONNREFUSED 127.0.0.1:1'))
})

test('the account is not sent without TLS', async (t) => {
  const received: Array<string | undefined> = []
  const server = createServer(({ headers }, response) => {
    received.push(headers.authorization)
    response.end()
  })
  await query(null, addressFrom(await listen(t, server)))
  t.deepEqual(received, [undefined])
})

testWith(OPENSSL)('only a node with a trusted certificate for its address or host name gets the account', async (t) => {
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
      ({ headers }, response) => {
        const isAda = headers.authorization === `Basic ${Buffer.from('ada:secret').toString('base64')}`
        response.writeHead(isAda ? 200 : 401).end(gossipAnswer(nodes, 0, () => ({ host: 'node0', port: 1 })))
      },
    )
    return addressFrom(await listen(t, listening))
  }
  const [first, second] = [await serve(numbered), await serve(named)]
  const own = { cert: client.cert, key: client.key }
  const leads = E.right({ leadsIn: 1, named: [{ host: 'node0', port: 1 }] })
  const problem = async (certificates: Certificates, address: Address): Promise<string> => {
    const answer = await query(certificates, address)
    return E.isLeft(answer) ? answer.left : 'none'
  }
  t.deepEqual(await query({ ...own, ca: numbered.cert }, first), leads)
  const eve = { username: 'eve', password: 'secret' }
  t.deepEqual(await createQueryNode({ ...own, ca: numbered.cert }, eve, LONG_MS)(first), E.left('HTTP 401'))
  t.regex(await problem({ ...own, ca: named.cert }, first), /self-signed certificate|unable to verify/)
  t.regex(await problem({ ca: numbered.cert }, first), /certificate required/, 'the server requires a certificate')
  t.regex(await problem(null, first), /if the node has TLS, remove tls=false$/)
  t.regex(await problem({ ...own, ca: named.cert }, second), /does not match certificate's altnames/)
  t.deepEqual(await query({ ...own, ca: named.cert }, { ...second, alias: 'cluster.example' }), leads)
  const plain = addressFrom(await listen(t, createServer()))
  t.is(await problem({ ca: named.cert }, plain), 'EPROTO: if the node has no TLS, add tls=false')
})
