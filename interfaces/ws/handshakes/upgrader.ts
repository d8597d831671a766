import { WebSocketServer } from 'ws'
import type { SocketRole } from '../../../application/ports/read-models.ts'
import { requestIdOf } from '../../http/request-id.ts'
import { refuse } from './handshake.ts'

/** A sender's base64 frame of 10 s has 427 KB. A listener may only send a ping. */
const MAX_FRAME_BYTES: Readonly<Record<SocketRole, number>> = { sender: 512 * 1024, listener: 4 * 1024 }

export const REQUEST_ID = 'x-request-id'

/** The versions that the library understands. */
const VERSIONS = { 'Sec-WebSocket-Version': '13, 8' }

/** Creates the WebSocket server of a role. Its responses contain the request id. */
export const createUpgrader = (role: SocketRole): WebSocketServer =>
  new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES[role],
    maxFragments: 1024,
    maxBufferedChunks: 8192,
  })
    .on('headers', (headers, request) => headers.push(`X-Request-ID: ${requestIdOf(request.headers[REQUEST_ID])}`))
    .on('wsClientError', ({ message }, socket, request) =>
      refuse(socket, { status: 400, detail: message, headers: VERSIONS }, requestIdOf(request.headers[REQUEST_ID])))
