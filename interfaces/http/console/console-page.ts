import type { Console } from './console-files.ts'

/**
 * Forbids inline code and styles, HTML from strings (Trusted Types without a policy), and content of other servers.
 * `'self'` includes WebSockets of this host in every browser that the console supports.
 */
const POLICY = [
  "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "media-src 'self'",
  "frame-src 'self'",
  "form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
  "trusted-types 'none'",
  "img-src 'self' data:",
].join('; ')

export const CONSOLE_HEADERS = { 'Content-Security-Policy': POLICY, 'Permissions-Policy': 'microphone=(self)' }

/**
 * Returns the HTML page of the console. `base` is the path in front of `console/…`, '' if it is unknown. A `meta`
 * element says whether an administrator exists, so the console starts with the right view.
 */
export const consolePage = ({ build, modules }: Console, isSetUp: boolean, base: string): string => {
  const address = (path: string): string => `${base}console/${build}/${path}`
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="robots" content="noindex">
  <meta name="stenolog" content="${isSetUp ? 'ready' : 'setup'}" data-base="${base}">
  <title>Stenolog</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="${address('console/console.css')}">
${modules.map((path) => `  <link rel="modulepreload" href="${address(path)}">\n`).join('')}\
  <script type="module" src="${address('console/main.ts')}"></script>
</head>
<body>
  <div id="app"></div>
  <noscript><p>The Stenolog console needs JavaScript. You can also use the <a href="${base}docs">REST interface</a>. \
To create the first administrator, set STENOLOG_ADMIN_USERNAME and STENOLOG_ADMIN_PASSWORD_FILE.</p></noscript>
</body>
</html>
`
}
