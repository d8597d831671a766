import { connect, createSecureContext } from 'node:tls'
import type { TLSSocket, TlsOptions } from 'node:tls'
import { deriveKey } from '../keys/master-key.ts'

/** Tells a stranger nothing but what listens here. */
const IDENTITY = 'stenolog'

/** Names the cipher because a key without one of its own stands for SHA-256: others would leave the key unused. */
const TLS_1_3 = { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256' } as const

/** TLS of processes that have one master key: who lacks it gets through no handshake, on either side. */
interface PreSharedKey {
  /** For a server: it has no certificate, so that the key is the only way in. */
  readonly server: Pick<TlsOptions, 'minVersion' | 'maxVersion' | 'ciphers' | 'pskCallback'>
  /** Dials. What is written before the other side has proved the key is sent after that. */
  readonly dial: (host: string, port: number) => TLSSocket
}

/** The key is derived from the master key, which it tells nothing of; the connection has keys of its own beside it. */
export const preSharedKey = (masterKey: Uint8Array): PreSharedKey => {
  const psk = deriveKey(masterKey, 'links')
  // Trusts nobody: a server that shows a certificate instead of the key is refused, whoever signed that.
  const secureContext = createSecureContext({ ...TLS_1_3, ca: [] })
  return {
    server: { ...TLS_1_3, pskCallback: (_, identity) => (identity === IDENTITY ? psk : null) },
    dial: (host, port) => {
      const socket = connect({
        host, port, secureContext, servername: '',
        pskCallback: () => ({ psk, identity: IDENTITY }),
        rejectUnauthorized: true,
        // Without a certificate there is no name in one.
        checkServerIdentity: () => undefined,
      })
      socket.setNoDelay(true)
      // TLS 1.3 counts a handshake by key as one that goes on from it.
      return socket.once('secureConnect', () => {
        if (!socket.isSessionReused()) socket.destroy(new Error('the other side did not prove the key'))
      })
    },
  }
}
