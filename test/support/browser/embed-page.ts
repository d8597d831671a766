import type { Page, WebSocketRoute } from 'playwright-core'
import type { Json } from '../service/client.ts'

/** Opens the embed page of a session. Returns the server side of its socket. */
export const openEmbedPage = async (page: Page, url: string): Promise<WebSocketRoute> => {
  const socket = Promise.withResolvers<WebSocketRoute>()
  await page.routeWebSocket(/\/ws\/live\//, (route) => socket.resolve(route))
  await page.goto(url)
  return socket.promise
}

/** A transcription frame. Default: final. */
export const captionFrame = (segment: number, text: string, members: Json = {}): string => {
  const times = { start: segment, end: segment + 1 }
  return JSON.stringify({ type: 'transcription', ...times, text, language: 'en', segment, final: true, ...members })
}
