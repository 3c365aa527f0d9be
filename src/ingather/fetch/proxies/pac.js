// What a proxy auto-configuration file may call, and the one function that runs it.
// Semantics are those of Mozilla's and Chromium's helpers (Netscape's specification of 1996), the ...Ex functions those of Microsoft's.
// Names are not resolved here: what is not known is asked for (needs), and the script is run again with the answer.
(function (global) {
  "use strict";
  var stringify = JSON.stringify, parse = JSON.parse, indirect = global.eval, RealDate = Date, isArray = Array.isArray;
  var known = {}, needs = [], own = [], alerts = [], now = 0;
  var UNKNOWN = { toString: function () { return "a name that has to be resolved first"; } };
  var DAYS = { SUN: 0, MON: 1, TUE: 2, WED: 3, THU: 4, FRI: 5, SAT: 6 };
  var MONTHS = { JAN: 0, FEB: 1, MAR: 2, APR: 3, MAY: 4, JUN: 5, JUL: 6, AUG: 7, SEP: 8, OCT: 9, NOV: 10, DEC: 11 };

  function four(text) {
    var match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text), bytes = [], i;
    if (!match) return null;
    for (i = 1; i < 5; i++) {
      if (+match[i] > 255) return null;
      bytes.push(+match[i]);
    }
    return bytes;
  }

  function groups(text) {
    var words = text === "" ? [] : text.split(":"), bytes = [], i, last;
    for (i = 0; i < words.length; i++) {
      if (i === words.length - 1 && words[i].indexOf(".") >= 0) {
        last = four(words[i]);
        if (!last) return null;
        bytes = bytes.concat(last);
      } else {
        if (!/^[0-9a-fA-F]{1,4}$/.test(words[i])) return null;
        bytes.push(parseInt(words[i], 16) >> 8, parseInt(words[i], 16) & 255);
      }
    }
    return bytes;
  }

  function six(text) {
    var halves = text.split("::"), head, tail, missing;
    if (text.indexOf(":") < 0 || halves.length > 2) return null;
    head = groups(halves[0]);
    if (halves.length === 1) return head && head.length === 16 ? head : null;
    tail = groups(halves[1]);
    if (!head || !tail) return null;
    missing = 16 - head.length - tail.length;
    if (missing < 2) return null;
    while (missing-- > 0) head.push(0);
    return head.concat(tail);
  }

  function bytesOf(text) {
    return four(text) || six(text);
  }

  function resolve(host) {
    var name = String(host).toLowerCase();
    if (bytesOf(name)) return [name];
    if (name === "" || name.length > 253 || /[^a-z0-9._-]/.test(name)) return [];
    var key = "=" + name;
    if (!(key in known)) {
      if (needs.length < 64) needs.push(name);
      throw UNKNOWN;
    }
    return known[key];
  }

  function firstFour(addresses) {
    for (var i = 0; i < addresses.length; i++) if (four(addresses[i])) return addresses[i];
    return null;
  }

  function gmt(parameters) {
    return parameters.length > 0 && parameters[parameters.length - 1] === "GMT";
  }

  function moment(universal) {
    var date = new RealDate(now);
    return universal
      ? { year: date.getUTCFullYear(), month: date.getUTCMonth(), day: date.getUTCDate(), weekday: date.getUTCDay(),
          second: date.getUTCHours() * 3600 + date.getUTCMinutes() * 60 + date.getUTCSeconds() }
      : { year: date.getFullYear(), month: date.getMonth(), day: date.getDate(), weekday: date.getDay(),
          second: date.getHours() * 3600 + date.getMinutes() * 60 + date.getSeconds() };
  }

  function within(low, value, high) {
    return low <= high ? low <= value && value <= high : low <= value || value <= high;
  }

  function reads(parameters) {
    // One end of a range of dates, or null; a day below 32, a year, the name of a month.
    var found = {}, i, number;
    for (i = 0; i < parameters.length; i++) {
      number = parseInt(parameters[i], 10);
      if (isNaN(number)) {
        if (!(parameters[i] in MONTHS)) return null;
        found.month = MONTHS[parameters[i]];
      } else if (number < 32) found.day = number;
      else found.year = number;
    }
    return found;
  }

  function compare(end, today) {
    // Year, month and day count as one number, as far as they are named.
    return ("year" in end ? today.year : 0) * 10000 + ("month" in end ? today.month : 0) * 100 + ("day" in end ? today.day : 0);
  }

  function number(end) {
    return (end.year || 0) * 10000 + (end.month || 0) * 100 + (end.day || 0);
  }

  var functions = {
    isPlainHostName: function (host) { return !/[.:]/.test(host); },
    dnsDomainIs: function (host, domain) {
      return host.length >= domain.length && host.substring(host.length - domain.length) === domain;
    },
    localHostOrDomainIs: function (host, full) { return host === full || full.lastIndexOf(host + ".", 0) === 0; },
    isResolvable: function (host) { return functions.dnsResolve(host) !== null; },
    isResolvableEx: function (host) { return resolve(host).length > 0; },
    dnsResolve: function (host) { return firstFour(resolve(host)); },
    dnsResolveEx: function (host) { return resolve(host).join(";"); },
    convert_addr: function (text) {
      var bytes = String(text).split(".");
      return ((bytes[0] & 255) << 24) | ((bytes[1] & 255) << 16) | ((bytes[2] & 255) << 8) | (bytes[3] & 255);
    },
    isInNet: function (host, pattern, mask) {
      var address = String(host);
      if (/^\d{1,3}(\.\d{1,3}){3}$/.test(address)) {
        if (!four(address)) return false;
      } else {
        address = functions.dnsResolve(address);
        if (address === null) return false;
      }
      var bits = functions.convert_addr(mask);
      return (functions.convert_addr(address) & bits) === (functions.convert_addr(pattern) & bits);
    },
    isInNetEx: function (address, prefix) {
      var parts = String(prefix).split("/"), left = bytesOf(String(address)), right = bytesOf(parts[0]), length = Number(parts[1]), i, bits;
      if (!left || !right || left.length !== right.length || parts.length !== 2 || !/^\d{1,3}$/.test(parts[1]) || length > left.length * 8) return false;
      for (i = 0; i < left.length && length > i * 8; i++) {
        bits = length - i * 8 >= 8 ? 255 : (255 << (8 - (length - i * 8))) & 255;
        if ((left[i] & bits) !== (right[i] & bits)) return false;
      }
      return true;
    },
    myIpAddress: function () { return firstFour(own) || "127.0.0.1"; },
    myIpAddressEx: function () { return own.join(";"); },
    sortIpAddressList: function (list) {
      if (typeof list !== "string" || list.trim() === "") return false;
      var found = list.split(";").map(function (text) { return { text: text.trim(), bytes: bytesOf(text.trim()) }; });
      if (!found.every(function (one) { return one.bytes; })) return false;
      found.sort(function (a, b) {
        if (a.bytes.length !== b.bytes.length) return b.bytes.length - a.bytes.length;
        for (var i = 0; i < a.bytes.length; i++) if (a.bytes[i] !== b.bytes[i]) return a.bytes[i] - b.bytes[i];
        return 0;
      });
      return found.map(function (one) { return one.text; }).join(";");
    },
    getClientVersion: function () { return "1.0"; },
    dnsDomainLevels: function (host) { return host.split(".").length - 1; },
    shExpMatch: function (text, pattern) {
      var expression = String(pattern).replace(/\./g, "\\.").replace(/\*/g, ".*").replace(/\?/g, ".");
      return new RegExp("^" + expression + "$").test(text);
    },
    weekdayRange: function () {
      var universal = gmt(arguments), count = arguments.length - (universal ? 1 : 0);
      if (count < 1) return false;
      var first = DAYS[arguments[0]], last = count === 2 ? DAYS[arguments[1]] : first;
      if (first === undefined || last === undefined) return false;
      return within(first, moment(universal).weekday, last);
    },
    dateRange: function () {
      var universal = gmt(arguments), parameters = Array.prototype.slice.call(arguments, 0, arguments.length - (universal ? 1 : 0));
      if (parameters.length < 1) return false;
      var half = parameters.length >> 1, today = moment(universal), first, last;
      if (parameters.length === 1) {
        first = last = reads(parameters);
      } else {
        first = reads(parameters.slice(0, half));
        last = reads(parameters.slice(half));
      }
      if (!first || !last) return false;
      // The form "OCT 1995 to MAR 1996" ends; "25 DEC to 6 JAN" comes back every year.
      if ("year" in first || "year" in last) return number(first) <= compare(first, today) && compare(last, today) <= number(last);
      return number(first) <= number(last)
        ? number(first) <= compare(first, today) && compare(last, today) <= number(last)
        : number(first) <= compare(first, today) || compare(last, today) <= number(last);
    },
    timeRange: function () {
      var universal = gmt(arguments), count = arguments.length - (universal ? 1 : 0), second = moment(universal).second, hour = Math.floor(second / 3600);
      if (count < 1) return false;
      if (count === 1) return hour === Number(arguments[0]);
      if (count === 2) return arguments[0] <= hour && hour <= arguments[1];
      if (count === 4) return within(arguments[0] * 3600 + arguments[1] * 60, second, arguments[2] * 3600 + arguments[3] * 60 + 59);
      if (count === 6) return within(arguments[0] * 3600 + arguments[1] * 60 + Number(arguments[2]), second,
                                     arguments[3] * 3600 + arguments[4] * 60 + Number(arguments[5]));
      throw "timeRange: bad number of arguments";
    },
    alert: function (text) {
      if (alerts.length < 20) alerts.push(String(text).substring(0, 200));
    },
  };
  Object.keys(functions).forEach(function (name) { global[name] = functions[name]; });

  function failure(error) {
    if (error === UNKNOWN) return "";
    try {
      return String(error instanceof Error ? error.name + ": " + error.message : error).substring(0, 500);
    } catch (worse) {
      return "it threw what cannot be told";
    }
  }

  function begin(state) {
    var said = parse(state), name;
    known = {};
    for (name in said.known) known["=" + name] = said.known[name];
    own = said.own;
    now = said.now;
    needs = [];
    alerts = [];
  }

  function told(answer, error) {
    return stringify({ answer: answer, error: needs.length ? "" : error, needs: needs, alerts: alerts });
  }

  function find(url, host, state) {
    begin(state);
    try {
      var entry = indirect("typeof FindProxyForURLEx === 'function' ? FindProxyForURLEx : typeof FindProxyForURL === 'function' ? FindProxyForURL : null");
      if (entry === null) return told("", "it has no function FindProxyForURL");
      var answer = entry(url, host);
      if (typeof answer !== "string") return told("", "it answered with " + (answer === null ? "null" : isArray(answer) ? "an array" : typeof answer) + ", not with text");
      if (answer.length > 4096) return told("", "its answer has " + answer.length + " characters");
      return told(answer, "");
    } catch (error) {
      return told("", failure(error) || "it failed");
    }
  }

  return function (what, first, second, third) {
    if (what === "begin") begin(first);
    return what === "find" ? find(first, second, third) : told("", "");
  };
})(globalThis);
