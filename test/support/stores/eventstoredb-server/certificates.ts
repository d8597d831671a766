import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The files of an authority and of the certificate that all nodes of a cluster use. */
export interface Certificates {
  readonly authority: string
  readonly certificate: string
  readonly key: string
}

/** Each node is a server and a client of the other nodes. */
const NODE_EXTENSIONS = `basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature,keyEncipherment
extendedKeyUsage=serverAuth,clientAuth
subjectAltName=IP:127.0.0.1,DNS:localhost
`

/** Creates the certificates in `folder`. The nodes trust the certificate of the authority, in `folder/trusted`. */
export const makeCertificates = async (folder: string): Promise<Certificates> => {
  const pathOf = (name: string): string => join(folder, name)
  const openssl = async (...args: ReadonlyArray<string>): Promise<void> => void (await run('openssl', [...args]))
  const files = { authority: pathOf('trusted/ca.crt'), certificate: pathOf('node.crt'), key: pathOf('node.key') }
  await writeFile(pathOf('extensions'), NODE_EXTENSIONS)
  await openssl(
    'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=test authority',
    '-keyout', pathOf('ca.key'), '-out', files.authority, '-addext', 'keyUsage=critical,keyCertSign,cRLSign',
  )
  await openssl(
    'req', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=eventstoredb-node',
    '-keyout', files.key, '-out', pathOf('node.csr'),
  )
  await openssl(
    'x509', '-req', '-in', pathOf('node.csr'), '-CA', files.authority, '-CAkey', pathOf('ca.key'), '-CAcreateserial',
    '-days', '2', '-extfile', pathOf('extensions'), '-out', files.certificate,
  )
  return files
}
