import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Files of an authority and of the one certificate that all nodes of a cluster show each other and their clients. */
export interface Certificates {
  readonly authority: string
  readonly certificate: string
  readonly key: string
}

/** A node knows the others by this name, and is server and client of each. */
const OF_A_NODE = `basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature,keyEncipherment
extendedKeyUsage=serverAuth,clientAuth
subjectAltName=IP:127.0.0.1,DNS:localhost
`

/** Made in `folder`, whose only certificate that a node trusts is the authority's: `folder/trusted`. */
export const makeCertificates = async (folder: string): Promise<Certificates> => {
  const at = (name: string): string => join(folder, name)
  const openssl = async (...args: ReadonlyArray<string>): Promise<void> => void (await run('openssl', [...args]))
  const made = { authority: at('trusted/ca.crt'), certificate: at('node.crt'), key: at('node.key') }
  await writeFile(at('extensions'), OF_A_NODE)
  await openssl(
    'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=the authority of a test',
    '-keyout', at('ca.key'), '-out', made.authority, '-addext', 'keyUsage=critical,keyCertSign,cRLSign',
  )
  await openssl('req', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=eventstoredb-node', '-keyout', made.key, '-out', at('node.csr'))
  await openssl(
    'x509', '-req', '-in', at('node.csr'), '-CA', made.authority, '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2',
    '-extfile', at('extensions'), '-out', made.certificate,
  )
  return made
}
