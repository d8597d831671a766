/** The client library of Stenolog, for browsers and for Node 22 or later. It has no dependencies. */
export { ApiError, createApiClient } from './client.ts'
export type { ApiClient } from './client.ts'
export { ended, NO_CAPTIONS, withFrame } from './captions.ts'
export type { Caption, Captions, TextFrame } from './captions.ts'
export { openLiveSocket } from './live-socket.ts'
export type { LiveFrame, LiveSocket, SocketEnd, SocketState } from './live-socket.ts'
export type { Operations } from './operations.ts'
