import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { createAddressGuard } from '../../../infrastructure/sources/network/address-guard.ts'
import { pullSource } from '../../../infrastructure/sources/puller/pull-source.ts'
import { sourceErrorOf } from '../../../infrastructure/sources/source-error.ts'

/** Runs in a network of loopback alone that has public addresses: which of the hosts named are contacted? Tells it as JSON. */
const [hosts = '', allow = ''] = process.argv.slice(2)
const SILENT = { bytes: async () => undefined, stretchEnds: async () => undefined, segment: () => undefined, targetDuration: () => undefined }

let contacts = 0
const server = createServer((socket) => {
  contacts += 1
  socket.destroy()
}).listen(0, '::')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
const rules = { allow: allow === '' ? [] : allow.split(','), ownPort: null }
const outcomes: Array<readonly [string, string, number]> = []
for (const url of hosts.split(',').flatMap((host) => ['http', 'rtmp', 'rtsp'].map((scheme) => `${scheme}://${host}:${port}/a/b`))) {
  const before = contacts
  const code = await pullSource({ url, after: null, rules }, SILENT, new AbortController().signal).then(
    () => 'pulled',
    (error: unknown) => sourceErrorOf(error).code,
  )
  outcomes.push([url.replace(`:${port}`, ''), code, contacts - before])
}
server.close()
console.log(JSON.stringify({ outcomes, ssh: createAddressGuard(rules).allows('8.8.4.4', 22) }))
