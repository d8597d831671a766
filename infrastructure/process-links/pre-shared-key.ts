import { connect, createSecureContext, type TlsOptions, type TLSSocket } from 'node:tls'
import { deriveKey } from '../keys/master-key.ts'

/** The public identity of the key. It reveals only that Stenolog listens here. */
const IDENTITY = 'stenolog'

/** Fixes the cipher: Node's pre-shared keys imply SHA-256, so a cipher with another hash would not use the key. */
const TLS_1_3 = { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256' } as const

/** TLS between processes with the same master key. Without the key, the handshake fails on both sides. */
interface PreSharedKey {
  /** Server options without a certificate, so clients without the key cannot connect. */
  readonly server: Pick<TlsOptions, 'minVersion' | 'maxVersion' | 'ciphers' | 'pskCallback'>
  /** Opens a connection. Data that is written early is sent only after the other side has proved the key. */
  readonly dial: (host: string, port: number) => TLSSocket
}

/** Creates TLS with a key that is derived from the master key. Each connection also negotiates its own session keys. */
export const preSharedKey = (masterKey: Uint8Array): PreSharedKey => {
  const psk = deriveKey(masterKey, 'links')
  // Trusts no authority, so a server that presents a certificate instead of the key is always refused.
  const secureContext = createSecureContext({ ...TLS_1_3, ca: [] })
  return {
    server: { ...TLS_1_3, pskCallback: (_, identity) => (identity === IDENTITY ? psk : null) },
    dial: (host, port) => {
      const socket = connect({
        host, port, secureContext, servername: '',
        pskCallback: () => ({ psk, identity: IDENTITY }),
        rejectUnauthorized: true,
        // A server without a certificate has no name to check.
        checkServerIdentity: () => undefined,
      })
      socket.setNoDelay(true)
      // TLS 1.3 reports a handshake with a pre-shared key as a resumed session.
      return socket.once('secureConnect', () => {
        if (!socket.isSessionReused()) socket.destroy(new Error('the other side did not prove the key'))
      })
    },
  }
}
