'use strict'

// openapi.json is next to this page, with any path prefix and with or without a trailing slash.
const description = new URL('openapi.json', location.origin + location.pathname.replace(/\/+$/, ''))

// Search needs a worker from a blob URL, which the Content-Security-Policy of this page forbids.
window.Redoc.init(description.href, { disableSearch: true, hideLoading: true }, document.getElementById('description'))
