function p = merged(p, extra, given)
  % The settings of a call over the defaults p: name-value pairs, or one struct.
  if any(strcmp(extra, 'n'))
    p.n = [];
  end
  if numel(given) == 1 && isstruct(given{1})
    names = fieldnames(given{1});
    values = struct2cell(given{1});
  else
    names = given(1:2:end);
    values = given(2:2:end);
    if numel(names) ~= numel(values)
      error('symmem:settings', 'settings are name-value pairs, or one struct');
    end
  end
  known = [fieldnames(p); extra(:)];
  for k = 1:numel(names)
    if ~ischar(names{k}) || ~any(strcmp(known, names{k}))
      error('symmem:settings', 'settings are %s', strjoin(unique(known)', ', '));
    end
    p.(names{k}) = values{k};
  end
  if any(strcmp(extra, 'lr')) && ~isfield(p, 'lr')
    error('symmem:settings', 'give the learning rate, ''lr''');
  end
  if any(strcmp(extra, 'n'))
    p.n = step_number(p.n);
  end
end

function n = step_number(n)
  % A step counted from 0; [] and Inf are the limit of many steps, [].
  if isempty(n) || (isscalar(n) && n == Inf)
    n = [];
  elseif ~isscalar(n) || ~(n >= 0) || n > 2^53 || n ~= floor(n)
    error('symmem:n', 'n = %s: steps count from 0 to 2^53; n = [] is the limit', mat2str(n));
  end
  n = double(n);
end

function check(is_inside, name, value, range)
  if ~(isscalar(is_inside) && is_inside)
    error('symmem:range', '%s = %s is outside %s', name, mat2str(value), range);
  end
end

function theta = array(theta)
  if ~isnumeric(theta) || ~isreal(theta)
    error('symmem:theta', 'theta is an array of real numbers');
  elseif ~isfloat(theta)
    theta = double(theta);
  end
end

function values = like(theta, values)
  % What a function of the caller's returned, as an array like theta.
  if ~isequal(size(values), size(theta))
    error('symmem:size', 'a function returned %s, not %s', mat2str(size(values)), mat2str(size(theta)));
  end
  values = cast(values, class(theta));
end

function values = filled(theta, number)
  values = zeros(size(theta), class(theta)) + number;
end

function number = total(vector)
  % The sum of the entries, added up in double precision.
  number = sum(double(vector(:)));
end

function first = oldest(first, stop, decay, bits)
  % The first step with abs(decay)^(stop - step) >= 2^-bits; with 0^0 = 1 the last one at least.
  if decay == 0
    first = max(first, stop - 1);
  else
    first = max(first, stop - ceil(-bits * log(2) / log(abs(decay))));
  end
end

function value = complete(m, nodes)
  % The sum of all products of m nodes, the rows of factors: a triangular matrix; nothing cancels.
  count = size(nodes, 1);
  value = eye(count);
  for done = floor((m + count - 1) ./ 2 .^ (ceil(log2(m + count)):-1:0))
    value = value * value * (diag(prod(nodes, 2)) + diag(ones(1, count - 1), 1)) ^ mod(done, 2);
    value(1:(count + 1):end) = prod(nodes .^ done, 2);
  end
  value = value(1, end);
end
