'use strict'

// openapi.json is next to this page, with any path prefix and with or without a trailing slash.
const description = new URL('openapi.json', location.origin + location.pathname.replace(/\/+$/, ''))

window.SwaggerUIBundle({
  url: description.href,
  dom_id: '#description',
  deepLinking: true,
  docExpansion: 'list',
  validatorUrl: null,
})
