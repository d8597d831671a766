import { WebSocketServer } from 'ws'
import type { SocketRole } from '../../../application/ports/read-models.ts'
import { requestIdOf } from '../../http/request-id.ts'

/** A sender's base64 frame of 10 s has 427 KB. A listener may only send a ping. */
const MAX_FRAME_BYTES: Readonly<Record<SocketRole, number>> = { sender: 512 * 1024, listener: 4 * 1024 }

export const REQUEST_ID = 'x-request-id'

/** Creates the WebSocket server of a role. Its 101 response contains the request id. */
export const createUpgrader = (role: SocketRole): WebSocketServer =>
  new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES[role],
    maxFragments: 1024,
    maxBufferedChunks: 8192,
  }).on('headers', (headers, request) => headers.push(`X-Request-ID: ${requestIdOf(request.headers[REQUEST_ID])}`))
