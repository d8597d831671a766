/** What a program or a page needs of Stenolog; it runs on browsers and on Node 22 and later, and needs nothing else. */
export { ApiError, createApiClient } from './client.ts'
export type { ApiClient } from './client.ts'
export { ended, NO_CAPTIONS, withFrame } from './captions.ts'
export type { Caption, Captions, TextFrame } from './captions.ts'
export { openLiveSocket } from './live-socket.ts'
export type { LiveFrame, LiveSocket, SocketEnd, SocketState } from './live-socket.ts'
export type { Operations } from './operations.ts'
