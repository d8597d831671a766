'use strict'

// The description lies beside this page, whatever prefix it is reached under and however its address ends.
const description = new URL('openapi.json', location.origin + location.pathname.replace(/\/+$/, ''))

window.SwaggerUIBundle({
  url: description.href,
  dom_id: '#description',
  deepLinking: true,
  docExpansion: 'list',
  validatorUrl: null,
})
