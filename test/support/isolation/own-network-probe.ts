import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { createAddressGuard } from '../../../infrastructure/sources/network/address-guard.ts'
import { pullSource } from '../../../infrastructure/sources/puller/pull-source.ts'
import { sourceErrorOf } from '../../../infrastructure/sources/source-error.ts'

/**
 * Runs in a network namespace whose loopback device has public addresses. Pulls a source from each host of the first
 * argument, and prints the outcomes and the number of contacts as JSON.
 */
const [hosts = '', allow = ''] = process.argv.slice(2)
const SILENT = {
  bytes: async () => undefined,
  stretchEnds: async () => undefined,
  segment: () => undefined,
  targetDuration: () => undefined, awaitAudio: () => undefined,
}

let contacts = 0
const server = createServer((socket) => {
  contacts += 1
  socket.destroy()
}).listen(0, '::')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
const rules = { allow: allow === '' ? [] : allow.split(','), ownPort: null }
const outcomes: Array<readonly [string, string, number]> = []
const SCHEMES = ['http', 'rtmp', 'rtsp']
for (const url of hosts.split(',').flatMap((host) => SCHEMES.map((scheme) => `${scheme}://${host}:${port}/a/b`))) {
  const before = contacts
  const code = await pullSource({ url, after: null, rules }, SILENT, new AbortController().signal).then(
    () => 'pulled',
    (error: unknown) => sourceErrorOf(error).code,
  )
  outcomes.push([url.replace(`:${port}`, ''), code, contacts - before])
}
server.close()
console.log(JSON.stringify({ outcomes, ssh: createAddressGuard(rules).allows('8.8.4.4', 22) }))
