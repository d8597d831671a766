import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

/** What a node answers over HTTP/1.1, by method and path. */
export type HttpCalls = Readonly<Record<string, (response: ServerResponse) => void>>

export const answerJson = (response: ServerResponse, body: unknown): void =>
  void response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body, null, 2))

/** Answers the calls; others are not found, and none is answered to who does not bring the account. */
export const answerHttp = (calls: HttpCalls, account: string | null): RequestListener => {
  const wanted = account === null ? null : `Basic ${Buffer.from(account).toString('base64')}`
  return (request: IncomingMessage, response: ServerResponse): void => {
    request.resume()
    const [path] = (request.url ?? '').split('?')
    const call = calls[`${request.method} ${path}`]
    if (call === undefined) response.writeHead(404).end()
    else if (wanted !== null && path?.startsWith('/admin/') === true && request.headers.authorization !== wanted) response.writeHead(401).end()
    else call(response)
  }
}
